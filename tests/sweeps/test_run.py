"""Parts against single cells: the same bytes, whatever the division; nothing lost with a worker."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline.cells.cell import Cell
from pipeline.cells.identity import identity_of
from pipeline.cells.read import make_cell
from pipeline.data.synthetic import glm
from pipeline.results.journal import Journal, Run
from pipeline.results.runs import STATUS, RunFolder, find_runs
from pipeline.sweeps.executors import here, joblib_workers
from pipeline.sweeps.part import MOST_CELLS, divide, pack, read_part
from pipeline.sweeps.plan import plan
from pipeline.sweeps.run import NEVER_SAID, WORKER_DIED, Order, WorkerDiedError, run
from tests.cells.configs import SMALL, places, run_listed

GLM = ("dataset.n=200", "dataset.d=3")


def cells_of(*overrides: str, config_dir: Path | None = None) -> list[Cell]:
    jobs = plan([*overrides, *SMALL], [] if config_dir is None else [config_dir])
    return [make_cell(job.values, job.config_dirs) for job in jobs]


def run_parts(
    cells: list[Cell], outputs: Path, n_jobs: int, force: bool = False, **options: Any
) -> list[Run]:
    """Run cells as every caller does; the journal is a new one."""
    order = Order(places(outputs), joblib_workers(n_jobs), n_jobs, force=force)
    journal = Journal(Path(tempfile.mkdtemp(dir=outputs.parent)))
    return run(dict(enumerate(cells)), replace(order, **options), journal)


def content(outputs: Path) -> dict[str, bytes]:
    """Return every file of the runs but the status, which holds the time taken."""
    files = [file for file in (outputs / "runs").rglob("*") if file.is_file()]
    return {
        str(file.relative_to(outputs)): file.read_bytes() for file in files if file.name != STATUS
    }


def test_blocks_write_the_bytes_of_single_jobs(tmp_path: Path) -> None:
    cells = cells_of(
        *("dataset=blood", "link=linear,logistic", "cutoff=0.5,0.8", "method=greedy,noise,ours")
    )
    for cell in cells:
        run_listed([cell], places(tmp_path / "single"))
    expected = content(tmp_path / "single")
    assert len(expected) == 5 * len(cells)
    for n_jobs in (1, 2):
        runs = run_parts(cells, tmp_path / str(n_jobs), n_jobs)
        assert [run.labels for run in runs] == [cell.labels for cell in cells]
        assert {run.state for run in runs} == {"computed"}
        assert content(tmp_path / str(n_jobs)) == expected


@pytest.mark.parametrize("most", [1, 3, 100])
def test_parts_of_any_size_give_the_same_bytes(most: int, tmp_path: Path) -> None:
    cells = cells_of("dataset=blood", "cutoff=0.5,0.8", "method=greedy,noise,ours")
    sizes: list[int] = []

    def counted(files: Sequence[Path]) -> None:
        sizes.extend(len(read_part(file).parcels) for file in files)
        here(files)

    run_parts(cells, tmp_path / "some", 1, executor=counted, most=most)
    assert sum(sizes) == len(cells)
    assert max(sizes) <= most
    for cell in cells:
        run_listed([cell], places(tmp_path / "single"))
    assert content(tmp_path / "some") == content(tmp_path / "single")


def test_what_is_there_is_kept_and_only_the_rest_computed(tmp_path: Path) -> None:
    cells = cells_of("dataset=blood", "method=greedy,ours", "cutoff=0.5,0.7")
    run_listed(cells[:1], places(tmp_path))
    runs = run_parts(cells, tmp_path, 2)
    assert [run.state for run in runs] == ["kept", "computed", "computed", "computed"]
    assert {run.state for run in run_parts(cells, tmp_path, 2)} == {"kept"}
    assert {run.state for run in run_parts(cells, tmp_path, 2, force=True)} == {"computed"}


def test_cells_that_fail_leave_the_others_alone(tmp_path: Path) -> None:
    missing = cells_of("dataset=csv", f"dataset.path={tmp_path / 'no.csv'}", "dataset.target=y")
    good = cells_of("dataset=blood", "method=greedy,ours")
    too_many = cells_of("dataset=glm", *GLM, "protocol.initial={share: null, count: 500}")
    runs = run_parts([*missing, *good, *too_many], tmp_path, 2)
    assert [run.state for run in runs] == ["failed", "computed", "computed", "failed"]
    assert "no.csv" in str(runs[0].reason)
    assert runs[3].folder is not None
    assert RunFolder(Path(runs[3].folder)).status["reason"] == runs[3].reason


def test_tables_travel_to_workers(tmp_path: Path) -> None:
    table = glm(n=200, d=3)
    cells = [
        replace(cell, dataset={"name": "mine"}, table=table)
        for cell in cells_of("dataset=glm", *GLM, "method=greedy,ours", "cutoff=0.5,0.7")
    ]
    run_listed(cells, places(tmp_path / "single"))
    run_parts(cells, tmp_path / "two", 2)
    assert content(tmp_path / "two") == content(tmp_path / "single")


def test_a_table_is_packed_once(tmp_path: Path) -> None:
    table = glm(n=200, d=3)
    cells = [
        replace(cell, dataset={"name": "mine"}, table=table)
        for cell in cells_of("dataset=glm", *GLM, "method=ours_theory", "cutoff=0.5,0.7")
    ]
    parcels = pack(dict(enumerate(cells)), tmp_path)
    assert len(list(tmp_path.iterdir())) == 1
    back = parcels[0].unpack()
    assert back.table is not None
    np.testing.assert_array_equal(back.table.X, table.X)
    assert identity_of(back, places(tmp_path).data) == identity_of(cells[0], places(tmp_path).data)


OWN = """
import os
import signal
from dataclasses import dataclass
from pathlib import Path

from pipeline.core.methods.base import Method, register

mark = Path(__file__).with_name("{name}.died")
if os.getpid() != {parent} and not ({once} and mark.exists()):
    mark.touch()
    os.kill(os.getpid(), signal.SIGKILL)


@register
@dataclass(frozen=True)
class Own(Method):
    name = "{name}"

    @staticmethod
    def bonus(t, alpha, score, width, draws):
        return alpha / t
"""


def deadly(folder: Path, name: str, once: bool) -> None:
    """Write a method that kills the worker that imports it, always or once."""
    (folder / "method").mkdir(exist_ok=True)
    (folder / "method" / f"{name}.yaml").write_text(f"name: {name}\n")
    code = OWN.format(name=name, parent=os.getpid(), once=once)
    (folder / "method" / f"{name}.py").write_text(code)


@pytest.mark.slow
def test_a_worker_that_dies_loses_no_other_cell_and_is_reported(tmp_path: Path) -> None:
    deadly(tmp_path, "deadly", once=False)
    cells = cells_of(
        *("dataset=blood", "cutoff=0.5,0.7", "method=greedy,deadly,ours,margin"),
        config_dir=tmp_path,
    )
    runs = run_parts(cells, tmp_path, 2)
    for one in runs:
        died = one.labels["method"] == "deadly"
        assert one.state in (("failed",) if died else ("computed", "kept"))
        assert one.folder is not None
        assert RunFolder(Path(one.folder)).state == ("failed" if died else "done")
        assert one.reason == (WORKER_DIED if died else None)


@pytest.mark.slow
def test_a_worker_that_dies_once_costs_nothing_but_time(tmp_path: Path) -> None:
    deadly(tmp_path, "fragile", once=True)
    overrides = ("dataset=blood", "cutoff=0.5,0.7", "method=greedy,fragile")
    cells = cells_of(*overrides, config_dir=tmp_path)
    runs = run_parts(cells, tmp_path / "two", 2)
    assert all(run.state in ("computed", "kept") for run in runs)
    run_listed(cells, places(tmp_path / "single"))
    assert content(tmp_path / "two") == content(tmp_path / "single")


@pytest.mark.parametrize("workers", [1, 2, 8])
def test_parts_cover_all_cells_once_and_keep_workers_busy(workers: int) -> None:
    cells = dict(enumerate(cells_of("experiment=smoke", "method=greedy,noise,margin,ours")))
    parts = divide(cells, workers)
    assert sorted(number for part in parts for number in part) == sorted(cells)
    assert len(parts) >= workers
    for part in parts:
        assert len(part) <= MOST_CELLS
        assert len({(cells[n].dataset_label, cells[n].link) for n in part}) == 1


def test_one_block_is_divided_among_the_workers() -> None:
    cells = dict(enumerate(cells_of("dataset=blood", "method=noise,ours", "cutoff=0.5,0.6,0.7")))
    assert len(divide(cells, 4)) >= 4


def test_results_survive_a_full_stop(tmp_path: Path) -> None:
    cells = cells_of("dataset=blood", "method=greedy,ours", "cutoff=0.5,0.7")

    def stop_after_one(files: Sequence[Path]) -> None:
        here(files[:1])
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_parts(cells, tmp_path / "outputs", 2, executor=stop_after_one, most=1)
    assert [run.state for run in find_runs(tmp_path / "outputs")] == ["done"]
    states = [run.state for run in run_parts(cells, tmp_path / "outputs", 2)]
    assert sorted(states) == ["computed"] * 3 + ["kept"]


class Fatal:
    """An executor whose workers die at some cells; it begins two parts at once, as two workers.

    Args:
        deadly: numbers of the cells, and how often each kills its worker.
    """

    def __init__(self, deadly: dict[int, int]) -> None:
        self.deadly = deadly
        self.launched: list[list[list[int]]] = []

    def __call__(self, files: Sequence[Path]) -> None:
        parts = [list(read_part(file).parcels) for file in files]
        self.launched.append(parts)
        for first in range(0, len(files), 2):
            pair = range(first, min(first + 2, len(files)))
            killers = [n for k in pair for n in parts[k] if self.deadly.get(n, 0) > 0]
            if killers:
                for k in pair:  # both had begun; neither has ended
                    journal = Journal(read_part(files[k]).journal)
                    for number in parts[k]:
                        journal.write(Run(number, "running", {}))
                self.deadly[killers[0]] -= 1
                raise WorkerDiedError
            here([files[k] for k in pair])


@pytest.mark.parametrize("most", [1, 2, 100])
def test_what_a_worker_dies_at_is_tried_cell_by_cell_and_at_last_alone(
    most: int, tmp_path: Path
) -> None:
    cells = cells_of("dataset=blood", "method=greedy,ours,margin", "cutoff=0.5,0.7")
    for deaths in (1, 2, 3, 99):
        outputs, fatal = tmp_path / str(deaths), Fatal({3: deaths})
        runs = run_parts(cells, outputs, 2, executor=fatal, most=most)
        alone = [parts for parts in fatal.launched if parts == [[3]]]
        assert [run.number for run in runs if run.state == "failed"] == [3] * (deaths > 2)
        assert {run.reason for run in runs} == ({None, WORKER_DIED} if deaths > 2 else {None})
        assert len(alone) <= 1
        assert not (Path(str(runs[0].folder)) / "parts").exists()


def test_workers_that_die_before_they_begin_are_not_started_for_ever(tmp_path: Path) -> None:
    launched = []

    def die(files: Sequence[Path]) -> None:
        launched.append(files)
        raise WorkerDiedError

    runs = run_parts(cells_of("dataset=blood", "method=greedy,ours"), tmp_path, 2, executor=die)
    assert [run.reason for run in runs] == [WORKER_DIED] * 2
    assert len(launched) == 1


def test_a_worker_that_says_nothing_is_a_failure(tmp_path: Path) -> None:
    runs = run_parts(cells_of("dataset=blood"), tmp_path, 1, executor=lambda _: None)
    assert [(run.state, run.reason) for run in runs] == [("failed", NEVER_SAID)]

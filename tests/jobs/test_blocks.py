"""Blocks against single jobs: the same bytes, whatever the division; nothing lost with a worker."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pipeline.data.synthetic import glm
from pipeline.jobs.blocks import WORKER_DIED, run_blocks
from pipeline.jobs.cell import Cell, make_cell
from pipeline.jobs.division import MOST_CELLS, divide
from pipeline.jobs.identity import identity_of
from pipeline.jobs.parcel import pack
from pipeline.jobs.plan import plan
from pipeline.jobs.runner import Run, run_cells
from pipeline.results.runs import STATUS, find_runs
from tests.jobs.configs import SMALL, places

GLM = ("dataset.n=200", "dataset.d=3")


def cells_of(*overrides: str, config_dir: Path | None = None) -> list[Cell]:
    jobs = plan([*overrides, *SMALL], [] if config_dir is None else [config_dir])
    return [make_cell(job.values, job.config_dirs) for job in jobs]


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
        run_cells([cell], places(tmp_path / "single"))
    expected = content(tmp_path / "single")
    assert len(expected) == 5 * len(cells)
    for n_jobs in (1, 2):
        runs = run_blocks(cells, places(tmp_path / str(n_jobs)), n_jobs)
        assert [run.cell for run in runs] == cells
        assert {run.state for run in runs} == {"computed"}
        assert content(tmp_path / str(n_jobs)) == expected


def test_what_is_there_is_kept_and_only_the_rest_computed(tmp_path: Path) -> None:
    cells = cells_of("dataset=blood", "method=greedy,ours", "cutoff=0.5,0.7")
    run_cells(cells[:1], places(tmp_path))
    seen: list[tuple[int, str]] = []

    def on_done(number: int, run: Run) -> None:
        seen.append((number, run.state))

    runs = run_blocks(cells, places(tmp_path), 2, on_done=on_done)
    assert [run.state for run in runs] == ["kept", "computed", "computed", "computed"]
    assert sorted(seen) == [(number, run.state) for number, run in enumerate(runs)]
    assert {run.state for run in run_blocks(cells, places(tmp_path), 2)} == {"kept"}
    assert {run.state for run in run_blocks(cells, places(tmp_path), 2, force=True)} == {"computed"}


def test_cells_that_fail_leave_the_others_alone(tmp_path: Path) -> None:
    missing = cells_of("dataset=csv", f"dataset.path={tmp_path / 'no.csv'}", "dataset.target=y")
    good = cells_of("dataset=blood", "method=greedy,ours")
    too_many = cells_of("dataset=glm", *GLM, "protocol.initial={share: null, count: 500}")
    runs = run_blocks([*missing, *good, *too_many], places(tmp_path), 2)
    assert [run.state for run in runs] == ["failed", "computed", "computed", "failed"]
    assert "no.csv" in str(runs[0].reason)
    assert runs[3].folder is not None
    assert runs[3].folder.status["reason"] == runs[3].reason


def test_tables_travel_to_workers(tmp_path: Path) -> None:
    table = glm(n=200, d=3)
    cells = [
        replace(cell, dataset={"name": "mine"}, table=table)
        for cell in cells_of("dataset=glm", *GLM, "method=greedy,ours", "cutoff=0.5,0.7")
    ]
    run_cells(cells, places(tmp_path / "single"))
    run_blocks(cells, places(tmp_path / "two"), 2)
    assert content(tmp_path / "two") == content(tmp_path / "single")


def test_a_table_is_packed_once(tmp_path: Path) -> None:
    table = glm(n=200, d=3)
    cells = [
        replace(cell, dataset={"name": "mine"}, table=table)
        for cell in cells_of("dataset=glm", *GLM, "method=ours_theory", "cutoff=0.5,0.7")
    ]
    parcels = pack(cells, tmp_path)
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
    runs = run_blocks(cells, places(tmp_path), 2)
    for run in runs:
        died = run.cell.method.name == "deadly"
        assert run.state in (("failed",) if died else ("computed", "kept"))
        assert run.folder is not None
        assert run.folder.state == ("failed" if died else "done")
        assert run.reason == (WORKER_DIED if died else None)


@pytest.mark.slow
def test_a_worker_that_dies_once_costs_nothing_but_time(tmp_path: Path) -> None:
    deadly(tmp_path, "fragile", once=True)
    overrides = ("dataset=blood", "cutoff=0.5,0.7", "method=greedy,fragile")
    cells = cells_of(*overrides, config_dir=tmp_path)
    runs = run_blocks(cells, places(tmp_path / "two"), 2)
    assert all(run.state in ("computed", "kept") for run in runs)
    run_cells(cells, places(tmp_path / "single"))
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
    """Whoever is told of a finished cell may stop the sweep: the cell is on the disk."""
    cells = cells_of("dataset=blood", "method=greedy,ours", "cutoff=0.5,0.7")

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_blocks(cells, places(tmp_path), 2, on_done=stop)
    assert any(run.state == "done" for run in find_runs(tmp_path))
    assert "kept" in {run.state for run in run_blocks(cells, places(tmp_path), 2)}

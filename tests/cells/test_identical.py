"""The same seed gives the same bytes, however the work is divided."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.cells.read import make_cell
from tests import commands
from tests.cells.configs import SMALL, places, run_listed, values

METHODS, CUTOFFS = ("greedy", "noise", "ours"), ("0.5", "0.7")
SWEPT = ("-m", f"method={','.join(METHODS)}", f"cutoff={','.join(CUTOFFS)}")


def overrides(dataset: str, link: str) -> tuple[str, ...]:
    return (*SMALL, f"dataset={dataset}", f"link={link}")


def run_here(outputs: Path, shared: tuple[str, ...], together: bool, threads: int) -> None:
    cells = [
        make_cell(values(*shared, f"method={method}", f"cutoff={cutoff}"))
        for method in METHODS
        for cutoff in CUTOFFS
    ]
    for part in [cells] if together else [[cell] for cell in cells]:
        runs = run_listed(part, places(outputs), threads=threads)
        assert {run.state for run in runs} == {"computed"}


@pytest.mark.parametrize(("dataset", "link"), [("blood", "linear"), ("glm", "logistic")])
def test_together_or_one_by_one_with_one_thread_or_two(
    dataset: str, link: str, tmp_path: Path
) -> None:
    shared = overrides(dataset, link)
    if dataset == "glm":
        shared = (*shared, "dataset.n=3000", "dataset.link=logistic", "protocol.batch_size=100")
    for number, (together, threads) in enumerate([(True, 1), (False, 1), (True, 2), (False, 2)]):
        run_here(tmp_path / str(number), shared, together, threads)
    first = commands.results(tmp_path / "0")
    assert len(first) == 5 * len(METHODS) * len(CUTOFFS)
    for number in range(1, 4):
        assert commands.results(tmp_path / str(number)) == first


@pytest.mark.slow
def test_sweeps_of_one_worker_or_two_and_single_runs(tmp_path: Path) -> None:
    shared = overrides("diabetes", "logistic")
    for number, options in enumerate([("n_jobs=1",), ("n_jobs=2",), ("n_jobs=2", "threads=2")]):
        done = commands.run(tmp_path / str(number), *SWEPT, *shared, *options)
        assert done.returncode == 0, done.stderr
    for method in METHODS:
        for cutoff in CUTOFFS:
            cell = (f"method={method}", f"cutoff={cutoff}")
            done = commands.run(tmp_path / "single", *shared, *cell)
            assert done.returncode == 0, done.stderr
    found = [commands.results(folder) for folder in sorted(tmp_path.iterdir())]
    assert len(found) == 4
    assert len(found[0]) == 5 * len(METHODS) * len(CUTOFFS)
    assert all(one == found[0] for one in found)

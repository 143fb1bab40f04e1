"""Two sweeps at once on the same outputs: neither notices the other."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from multiprocessing.synchronize import Event
from pathlib import Path

import pytest

from pipeline.cells.read import check_writable, make_cell
from pipeline.results.runs import RunFolder
from tests import commands
from tests.cells.configs import SMALL, places, run_listed, values

OVERRIDES = ("dataset=blood", *SMALL)
READS = 50  # of a run that others compute again
SWEEP = ("-m", *OVERRIDES, "method=greedy,ours,margin", "cutoff=0.5,0.7", "n_jobs=2")


def fork(work: Callable[..., object], *arguments: object) -> multiprocessing.Process:
    """Start a function in a copy of this process, where the engine is loaded already."""
    context = multiprocessing.get_context("fork")
    child = context.Process(target=work, args=arguments)
    child.start()
    return child  # type: ignore[return-value]


def compute_until(enough: Event, outputs: Path, force: bool) -> None:
    cell = make_cell(values(*OVERRIDES))
    while not enough.is_set():
        (run,) = run_listed([cell], places(outputs), force=force)
        assert run.state in ("computed", "kept"), run.reason


@pytest.mark.parametrize("forced", [(True, True), (True, False)])
def test_what_is_done_can_be_read_while_others_compute_it_again(
    forced: tuple[bool, bool], tmp_path: Path
) -> None:
    cell = make_cell(values(*OVERRIDES))
    (run,) = run_listed([cell], places(tmp_path / "alone"))
    expected = commands.results(tmp_path / "alone")
    folder = RunFolder(tmp_path / "shared" / run.results().path.relative_to(tmp_path / "alone"))
    enough = multiprocessing.get_context("fork").Event()
    children = [fork(compute_until, enough, tmp_path / "shared", force) for force in forced]
    n_read = 0
    while n_read < READS and all(child.is_alive() for child in children):
        if folder.state != "missing":
            assert folder.outcome().summary["n_splits"] == 2
            assert commands.results(tmp_path / "shared") == expected
            n_read += 1
    enough.set()
    for child in children:
        child.join()
    assert [child.exitcode for child in children] == [0, 0]
    assert n_read == READS
    assert commands.results(tmp_path / "shared") == expected


def probe_often(outputs: Path) -> None:
    for _ in range(300):
        check_writable(outputs)


def test_two_sweeps_may_probe_the_outputs_at_once(tmp_path: Path) -> None:
    children = [fork(probe_often, tmp_path) for _ in range(3)]
    for child in children:
        child.join()
    assert [child.exitcode for child in children] == [0, 0, 0]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("more", [(), ("force=true",)])
def test_two_sweeps_at_once(more: tuple[str, ...], tmp_path: Path) -> None:
    alone = commands.run(tmp_path / "alone", *SWEEP)
    assert alone.returncode == 0, alone.stderr
    both = [commands.start(tmp_path / "both", *SWEEP, *options) for options in ((), more)]
    for done in map(commands.end, both):
        assert done.returncode == 0, done.stderr
        assert "FAILED" not in done.stdout
    assert commands.results(tmp_path / "both") == commands.results(tmp_path / "alone")
    assert not list((tmp_path / "both").rglob("*.part"))

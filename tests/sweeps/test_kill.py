"""Killed at any point, a sweep loses no finished job; a rerun completes it, byte by byte."""

from __future__ import annotations

import multiprocessing
import os
import signal
from pathlib import Path

import pytest

from pipeline.cells.read import make_cell
from pipeline.results.runs import RunFolder, find_runs
from pipeline.sweeps.command import WAS_STOPPED
from tests import commands
from tests.cells.configs import places, run_listed, values
from tests.faults import Point
from tests.results.made_up import made_up

DATASETS, METHODS = ("blood", "diabetes"), ("greedy", "ours", "margin")
CUTOFFS = ("0.5", "0.7")
N_JOBS = len(DATASETS) * len(METHODS) * len(CUTOFFS)
SWEEP = (
    "-m", f"dataset={','.join(DATASETS)}", f"method={','.join(METHODS)}",
    f"cutoff={','.join(CUTOFFS)}", "splits=4", "n_jobs=2",
)  # fmt: skip
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
FILES = ("config.yaml", "environment.json", "losses.parquet", "summary.json", "status.json")


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Return the results of the sweep, computed in this process without a command."""
    outputs = tmp_path_factory.mktemp("reference")
    assert run_here(outputs) == ["computed"] * N_JOBS
    return commands.results(outputs)


def run_here(outputs: Path) -> list[str]:
    """Run the cells of the sweep in this process, where the engine is loaded already."""
    states = []
    for dataset in DATASETS:
        cells = [
            make_cell(
                values(f"dataset={dataset}", f"method={method}", f"cutoff={cutoff}", "splits=4")
            )
            for method in METHODS
            for cutoff in CUTOFFS
        ]
        states += [run.state for run in run_listed(cells, places(outputs))]
    return states


def assert_nothing_lost(outputs: Path, reference: dict[str, bytes], at_least: int) -> None:
    """Everything that calls itself done is whole and as it should be."""
    found = commands.results(outputs)
    assert found.items() <= reference.items()
    assert commands.n_done(outputs) >= at_least


def assert_completes(outputs: Path, reference: dict[str, bytes]) -> None:
    kept = commands.n_done(outputs)
    done = commands.run(outputs, *SWEEP)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count(" kept\n") == kept
    assert commands.results(outputs) == reference
    assert {folder.state for folder in find_runs(outputs)} == {"done"}


def started(
    folder: Path, file: str = "status.json", *arguments: str
) -> tuple[commands.Process, Point]:
    """Start the sweep; return it with the point its workers wait at, some cells being done."""
    outputs, point = folder / "outputs", Point(folder / "point", file, after=1)
    process = commands.start(outputs, *SWEEP, *arguments, point=point)
    waiting = commands.wait_for(lambda: commands.n_done(outputs) > 0 and bool(point.held), process)
    assert waiting, process.communicate()
    return process, point


def kill_a_worker(folder: Path, file: str) -> None:
    """Kill a worker where it waits; the sweep then completes by itself."""
    process, point = started(folder, file)
    os.kill(point.held[0], signal.SIGKILL)
    point.let_go()
    done = commands.end(process)
    commands.assert_gone(process)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert "FAILED" not in done.stdout


def test_a_killed_worker_costs_nothing_but_time(
    tmp_path: Path, reference: dict[str, bytes]
) -> None:
    kill_a_worker(tmp_path, "status.json")
    assert commands.results(tmp_path / "outputs") == reference


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES)
def test_a_worker_killed_at_any_point(
    file: str, tmp_path: Path, reference: dict[str, bytes]
) -> None:
    kill_a_worker(tmp_path, file)
    assert commands.results(tmp_path / "outputs") == reference


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES)
def test_the_whole_group_killed_at_any_point(
    file: str, tmp_path: Path, reference: dict[str, bytes]
) -> None:
    outputs = tmp_path / "outputs"
    process, _ = started(tmp_path, file)
    commands.kill_group(process)
    commands.end(process)
    assert_nothing_lost(outputs, reference, at_least=1)
    assert_completes(outputs, reference)


@pytest.mark.slow
def test_workers_end_when_their_parent_was_killed(
    tmp_path: Path, reference: dict[str, bytes]
) -> None:
    outputs = tmp_path / "outputs"
    process, _ = started(tmp_path)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    commands.assert_gone(process)
    assert_nothing_lost(outputs, reference, at_least=1)
    assert_completes(outputs, reference)


def test_workers_end_whose_parent_was_killed_while_they_started(tmp_path: Path) -> None:
    """Some have been sent half of what to do, and some are never sent anything."""
    process = commands.start(tmp_path / "outputs", *SWEEP, "n_jobs=4")
    assert commands.wait_for(lambda: len(commands.workers(process)) > 3, process)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    commands.assert_gone(process)


@pytest.mark.slow
@pytest.mark.parametrize("early", [True, False])
@pytest.mark.parametrize("whole_group", [True, False])
@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
def test_ctrl_c_and_its_like_stop_with_one_line(
    number: signal.Signals,
    whole_group: bool,
    early: bool,
    tmp_path: Path,
    reference: dict[str, bytes],
) -> None:
    outputs = tmp_path / "outputs"
    if early:  # while the workers still load what they need
        process = commands.start(outputs, *SWEEP)
        assert commands.wait_for(lambda: len(commands.workers(process)) > 1, process)
    else:
        process, _ = started(tmp_path)
    if whole_group:  # as a terminal does
        commands.kill_group(process, number)
    else:
        os.kill(process.pid, number)
    done = commands.end(process)
    assert done.returncode == 128 + number, done.stderr
    assert commands.said(done.stderr) == [f"pipeline.run: {WAS_STOPPED}"]
    commands.assert_gone(process)
    assert_nothing_lost(outputs, reference, at_least=0 if early else 1)
    assert_completes(outputs, reference)


def _save_and_die(folder: Path, number: int, late: bool) -> None:
    """Save a run; be killed just before or after a file takes its place, by the file's number."""
    place, placed = Path.replace, []

    def place_or_die(partial: Path, target: Path) -> Path:
        placed.append(target)
        if len(placed) == number and late:
            place(partial, target)
        if len(placed) == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return place(partial, target)

    Path.replace = place_or_die  # type: ignore[method-assign]  # in a process of its own
    RunFolder(folder).save(made_up(), "config: 1\n", {"python": "3"}, 0.1)


def test_killed_while_writing_a_result_is_whole_or_not_there(tmp_path: Path) -> None:
    whole = RunFolder(tmp_path / "whole")
    whole.save(made_up(), "config: 1\n", {"python": "3"}, 0.1)
    expected = {file.name: file.read_bytes() for file in whole.path.iterdir()}
    found_states = []
    for number in range(1, len(expected) + 1):
        for late in (False, True):
            run = RunFolder(tmp_path / f"{number}_{late}")
            child = multiprocessing.get_context("fork").Process(
                target=_save_and_die, args=(run.path, number, late)
            )
            child.start()
            child.join()
            assert child.exitcode == -signal.SIGKILL
            found = {f.name: f.read_bytes() for f in run.path.iterdir() if f.suffix != ".part"}
            assert found.items() <= expected.items()
            assert len(found) == number - (not late)
            assert (run.state == "done") == (set(found) == set(expected))
            found_states.append(run.state)
    assert found_states == ["missing"] * (2 * len(expected) - 1) + ["done"]

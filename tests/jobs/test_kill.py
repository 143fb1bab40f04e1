"""Killed at any moment, a sweep loses no finished job; a rerun completes it, byte by byte."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest

from pipeline.jobs.cell import make_cell
from pipeline.jobs.guard import WAS_STOPPED, WORKER_DIED
from pipeline.jobs.runner import run_cells
from pipeline.results.runs import RunFolder, find_runs
from tests.jobs import commands
from tests.jobs.configs import places, values
from tests.results.made_up import made_up

DATASETS, METHODS = ("blood", "diabetes"), ("greedy", "ours", "margin")
CUTOFFS = ("0.5", "0.7")
N_JOBS = len(DATASETS) * len(METHODS) * len(CUTOFFS)
SWEEP = (
    "-m", f"dataset={','.join(DATASETS)}", f"method={','.join(METHODS)}",
    f"cutoff={','.join(CUTOFFS)}", "splits=4", "n_jobs=2",
)  # fmt: skip
MOMENTS = np.random.default_rng(0).uniform(0.0, 1.5, size=4).round(3).tolist()


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
        states += [run.state for run in run_cells(cells, places(outputs))]
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


def started(outputs: Path, after: float = 0.0) -> commands.Process:
    """Start the sweep and wait until it has a result, and some seconds more."""
    process = commands.start(outputs, *SWEEP)
    assert commands.wait_for(lambda: commands.n_done(outputs) > 0, process), process.communicate()
    time.sleep(after)
    return process


def kill_a_worker(outputs: Path, after: float) -> tuple[int, str, str]:
    process = started(outputs, after)
    found = commands.workers(process)
    for pid in found[:1]:  # none: the sweep has ended
        os.kill(pid, signal.SIGKILL)
    done = commands.end(process)
    commands.assert_gone(process)
    return done.returncode, done.stdout, done.stderr


def test_a_killed_worker_loses_no_finished_job(tmp_path: Path, reference: dict[str, bytes]) -> None:
    for attempt in "abc":  # a loaded machine may let the sweep end before the shot
        outputs = tmp_path / attempt
        code, out, err = kill_a_worker(outputs, 0.0)
        if code:
            break
    assert (code, commands.said(err)) == (1, [f"pipeline.run: {WORKER_DIED}"]), err
    assert "jobs did not finish; run the same command again" in out
    assert_nothing_lost(outputs, reference, at_least=1)
    kept = commands.n_done(outputs)
    assert run_here(outputs).count("kept") == kept
    assert commands.results(outputs) == reference


@pytest.mark.slow
@pytest.mark.parametrize("after", MOMENTS)
def test_a_worker_killed_at_any_moment(
    after: float, tmp_path: Path, reference: dict[str, bytes]
) -> None:
    outputs = tmp_path / "outputs"
    code, _, err = kill_a_worker(outputs, after)
    assert code == (1 if WORKER_DIED in err else 0)
    assert "Traceback" not in err
    assert_nothing_lost(outputs, reference, at_least=1)
    assert_completes(outputs, reference)


@pytest.mark.slow
@pytest.mark.parametrize("after", MOMENTS)
def test_the_whole_group_killed_at_any_moment(
    after: float, tmp_path: Path, reference: dict[str, bytes]
) -> None:
    outputs = tmp_path / "outputs"
    process = started(outputs, after)
    commands.kill_group(process)
    commands.end(process)
    assert_nothing_lost(outputs, reference, at_least=1)
    assert_completes(outputs, reference)


@pytest.mark.slow
def test_workers_end_when_their_parent_was_killed(
    tmp_path: Path, reference: dict[str, bytes]
) -> None:
    outputs = tmp_path / "outputs"
    process = started(outputs)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    commands.assert_gone(process)
    assert_nothing_lost(outputs, reference, at_least=1)
    assert_completes(outputs, reference)


@pytest.mark.slow
@pytest.mark.parametrize("early", [True, False])
@pytest.mark.parametrize("whole_group", [True, False])
def test_ctrl_c_stops_with_one_line(
    whole_group: bool, early: bool, tmp_path: Path, reference: dict[str, bytes]
) -> None:
    outputs = tmp_path / "outputs"
    if early:  # while the workers still load what they need
        process = commands.start(outputs, *SWEEP)
        assert commands.wait_for(lambda: len(commands.workers(process)) > 1, process)
    else:
        process = started(outputs)
    if whole_group:  # as a terminal does
        commands.kill_group(process, signal.SIGINT)
    else:
        os.kill(process.pid, signal.SIGINT)
    done = commands.end(process)
    assert done.returncode == 130, done.stderr
    assert commands.said(done.stderr) == [f"pipeline.run: {WAS_STOPPED}"]
    commands.assert_gone(process)
    assert_nothing_lost(outputs, reference, at_least=0 if early else 1)
    assert_completes(outputs, reference)


def _save_many(folder: Path) -> None:
    for number in range(10_000):
        run = RunFolder(folder / f"runs/p/d/l/0.5/m/{number}")
        run.save(made_up(), "config: 1\n", {"python": "3"}, 0.1)


def test_killed_while_writing_a_result_is_whole_or_not_there(tmp_path: Path) -> None:
    whole = RunFolder(tmp_path / "whole")
    whole.save(made_up(), "config: 1\n", {"python": "3"}, 0.1)
    expected = {file.name: file.read_bytes() for file in whole.path.iterdir()}
    started_writing = half_written = 0
    for number, after in enumerate(np.random.default_rng(1).uniform(0.0, 0.05, size=60)):
        child = multiprocessing.get_context("fork").Process(
            target=_save_many, args=(tmp_path / str(number),)
        )
        child.start()
        time.sleep(after)
        child.kill()
        child.join()
        for path in (tmp_path / str(number)).glob("runs/p/d/l/0.5/m/*"):
            started_writing += 1
            found = {f.name: f.read_bytes() for f in path.iterdir() if f.suffix != ".part"}
            assert found.items() <= expected.items()
            half_written += RunFolder(path).state == "missing"
            assert (RunFolder(path).state == "done") == (set(found) == set(expected))
    assert started_writing > half_written > 0

"""Whoever tells MLflow may be killed, and its server may die: sync then makes it whole, once."""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pipeline import sync
from pipeline.results.journal import Journal
from pipeline.sweeps.desk import open_desk
from pipeline.tracking.store import client_of, hold
from pipeline.tracking.sweep import Sweep
from pipeline.tracking.tracker import log_job, open_sweep
from tests import commands
from tests.faults import Point
from tests.tracking.made import make_failure, make_run, make_sweep

WANTED = {"name": "mlflow", "uri": None, "experiment": "onesided"}
NAME, STARTED = "20260101-000000", "2026-01-01T00:00:00+00:00"
# Where a sync of two jobs is killed: before the call of that number.
POINTS = [
    ("open", 1),  # the sweep's run is there, the journal does not know it
    ("log_batch", 2),  # a job's run is there, and empty
    ("write", 1),  # the job's run has ended, the journal does not know it
    ("set_terminated", 3),  # the sweep's run has all but its end
    ("open", 2),  # the sweep's run has ended, the journal does not know it
]
MORE_POINTS = [
    ("create_run", 1),
    ("log_batch", 1),
    ("create_run", 2),
    ("log_inputs", 1),
    ("log_artifact", 2),
    ("set_terminated", 1),
    ("create_run", 3),
    ("write", 2),
    ("log_batch", 4),  # the sweep's figures
    ("log_artifact", 8),  # its summary
]
SLOW = [pytest.param(*point, marks=pytest.mark.slow) for point in MORE_POINTS]
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["mlflow.tracking", "pipeline.sync"])


@pytest.fixture(scope="module")
def new_database(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A database without runs: making one takes seconds."""
    outputs = tmp_path_factory.mktemp("outputs")
    open_sweep({**WANTED, "experiment": "other"}, outputs, Sweep({}), many=False)
    return (outputs / "mlflow.db").read_bytes()


@pytest.fixture
def outputs(tmp_path: Path, new_database: bytes) -> Path:
    folder = tmp_path / "outputs"
    folder.mkdir()
    (folder / "mlflow.db").write_bytes(new_database)
    return folder


def missed(outputs: Path, **about: Any) -> Journal:
    """A sweep of two jobs, one of them failed, of which MLflow knows nothing."""
    runs = [make_run(outputs, "ours", 0), make_failure(outputs, "noise", 1)]
    told = {"tracking_wanted": WANTED, "tracking": None, **about}
    journal = make_sweep(outputs, runs, NAME, **told)
    leave_files(journal)
    return journal


def leave_files(journal: Journal) -> None:
    (journal.path / "summary.csv").write_text("a,b\n")
    (journal.path / "picture.png").write_bytes(b"\x89PNG")


def found(outputs: Path) -> list[Any]:
    client = client_of(f"sqlite:///{outputs}/mlflow.db")
    experiment = client.get_experiment_by_name("onesided")
    return list(client.search_runs([experiment.experiment_id])) if experiment else []


def assert_whole(outputs: Path, journal: Journal, status: str) -> None:
    """Every job is there once, as the journal notes; the sweep's run has ended and has all."""
    runs = {run.info.run_id: run for run in found(outputs)}
    tracking = journal.about["tracking"]
    assert set(runs) == {tracking["parent"], *(run.tracked for run in journal.runs())}
    parent = runs.pop(tracking["parent"])
    assert sorted(run.data.tags["job"] for run in runs.values()) == ["0", "1"]
    for run in runs.values():
        assert run.info.status == ("FAILED" if run.data.tags["state"] == "failed" else "FINISHED")
        assert run.data.tags["mlflow.parentRunId"] == tracking["parent"]
    (done, *_) = [run for run in runs.values() if run.data.tags["method"] == "ours"]
    assert {"loss", "cumulative_loss", "average_loss"} <= set(done.data.metrics)
    assert parent.info.status == status
    assert parent.data.metrics["sweep_cells"] == 2
    assert "mean_loss_ours" in parent.data.metrics
    client = client_of(f"sqlite:///{outputs}/mlflow.db")
    files = {file.path for file in client.list_artifacts(parent.info.run_id)}
    assert files == {"summary.csv", "picture.png"}


def sync_and_die(outputs: Path, name: str, number: int) -> None:
    """Log what is missing; be killed before the call of that name and number."""
    from mlflow.tracking import MlflowClient

    calls = []

    def counted(call: Callable[..., Any]) -> Callable[..., Any]:
        def call_or_die(*arguments: Any, **options: Any) -> Any:
            calls.append(call)
            if len(calls) == number:
                os.kill(os.getpid(), signal.SIGKILL)
            return call(*arguments, **options)

        return call_or_die

    owner = Journal if name in ("open", "write") else MlflowClient
    setattr(owner, name, counted(getattr(owner, name)))
    sync.sync(outputs)


@pytest.mark.parametrize(("name", "number"), [*POINTS, *SLOW])
def test_a_sync_killed_anywhere_leaves_nothing_by_half(
    name: str, number: int, outputs: Path
) -> None:
    journal = missed(outputs)
    child = FORKS.Process(target=sync_and_die, args=(outputs, name, number))
    child.start()
    child.join()
    assert child.exitcode == -signal.SIGKILL
    sync.sync(outputs)
    assert_whole(outputs, journal, "FAILED")
    before = {run.info.run_id for run in found(outputs)}
    assert sync.sync(outputs) == 0
    assert {run.info.run_id for run in found(outputs)} == before


def test_a_single_run_is_not_logged_twice(outputs: Path) -> None:
    run = make_run(outputs, "ours", 0)
    journal = make_sweep(outputs, [run], NAME, tracking_wanted=WANTED, tracking=None, many=False)
    child = FORKS.Process(target=sync_and_die, args=(outputs, "write", 1))
    child.start()
    child.join()
    (logged,) = found(outputs)
    assert sync.sync(outputs) == 1
    assert [item.info.run_id for item in found(outputs)] == [logged.info.run_id]
    assert [run.tracked for run in journal.runs()] == [logged.info.run_id]


def test_a_sweep_that_was_killed_is_ended_by_sync(outputs: Path) -> None:
    about = {"sweep": NAME, "started": STARTED, "jobs": 2}
    tracking = open_sweep(WANTED, outputs, Sweep(about), many=True)
    assert tracking is not None
    journal = missed(outputs, tracking=tracking)
    for run in list(journal.runs()):
        journal.write(run.but(tracked=log_job(tracking, run, Sweep(about))))
    assert sync.sync(outputs) == 0  # no job was missing
    assert_whole(outputs, journal, "FAILED")


def test_a_sweep_that_still_runs_is_left_alone(outputs: Path) -> None:
    journal = missed(outputs)
    held = hold(journal.path)
    assert held is not None
    assert sync.sync(outputs) == 0
    assert found(outputs) == []
    os.close(held)
    assert sync.sync(outputs) == 2


@contextmanager
def served(outputs: Path, port: int) -> Iterator[Callable[[], None]]:
    """Serve the store of some outputs; yield what kills the server."""
    from screenshots import _wait_for

    from pipeline.tracking.ui import server_command

    process = commands.start_command(server_command(outputs, port), outputs, os.environ)

    def kill() -> None:
        commands.kill_group(process)
        process.communicate()

    try:
        _wait_for(f"http://127.0.0.1:{port}/health", process)
        yield kill
    finally:
        if process.poll() is None:
            kill()


@pytest.mark.slow
@pytest.mark.parametrize("call", ["create_run", "log_batch", "set_terminated"])
def test_a_server_that_dies_in_mid_sweep(
    call: str, outputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = free_port()
    uri = f"http://127.0.0.1:{port}"
    folder, said = outputs / "sweeps" / NAME, list[str]()
    desk = open_desk(folder, outputs, "a test", [[], []], {**WANTED, "uri": uri}, said.append)
    runs = [make_run(outputs, "ours", 0), make_run(outputs, "margin", 1)]
    for run in runs:
        desk.journal.write(run)
    with served(outputs, port) as kill:
        assert desk.log(runs[0]).tracked
        ask = getattr(client_of(uri), call)

        def die(*arguments: Any, **options: Any) -> Any:
            kill()
            return ask(*arguments, **options)

        monkeypatch.setattr(client_of(uri), call, die)
        assert "nothing listens there" in str(desk.log(runs[1]).untracked)
    monkeypatch.undo()
    leave_files(desk.journal)
    desk.close(0)
    assert len(said) == 1
    assert "nothing listens there" in said[0]
    assert "RUNNING" in {run.info.status for run in found(outputs)}
    with served(outputs, port):
        assert sync.sync(outputs) == 1
    assert_whole(outputs, desk.journal, "FINISHED")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_sweep_that_a_signal_ends_leaves_no_run_open(
    number: signal.Signals, outputs: Path
) -> None:
    point = Point(outputs.parent / "point", "status.json", after=2)
    sweep = ("-m", "method=greedy,ours,margin", "cutoff=0.5,0.7", "splits=2", "n_jobs=1", "part=1")
    command = [sys.executable, "-m", "pipeline.run", *sweep, f"outputs={outputs}"]
    environment = {**os.environ, **point.environment(str(commands.ROOT))}
    process = commands.start_command(command, outputs.parent, environment)
    assert commands.wait_for(lambda: bool(point.held) and len(found(outputs)) > 1, process)
    os.kill(process.pid, number)
    done = commands.end(process)
    assert done.returncode == 128 + number, done.stderr
    commands.assert_gone(process)
    parents = [run for run in found(outputs) if "mlflow.parentRunId" not in run.data.tags]
    children = [run for run in found(outputs) if "mlflow.parentRunId" in run.data.tags]
    assert [run.info.status for run in parents] == ["KILLED"]
    assert {run.info.status for run in children} == {"FINISHED"}
    assert parents[0].data.metrics["sweep_cells"] == 6
    assert sync.sync(outputs) == 0

"""Writers that meet: whatever two of them do at the same moment, both are told in full."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from pipeline.tracking import store
from pipeline.tracking.sweep import Sweep
from pipeline.tracking.tracker import TrackingError, log_job, open_sweep
from tests.tracking.made import TODAY, make_run

SETTINGS = {"name": "mlflow", "uri": None, "experiment": "onesided"}
METHODS = ("ours", "margin", "greedy", "noise")
PATIENCE = 300.0  # seconds; a bound, not an expectation


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("outputs")


@pytest.fixture(scope="module")
def tracking(outputs: Path) -> dict[str, Any]:
    found = open_sweep(SETTINGS, outputs, TODAY, many=True)
    assert found is not None
    return found


@contextmanager
def meeting(kind: type, writers: int) -> Iterator[list[str]]:
    """Hold every writer that is about to add a row of a kind until all of them are.

    Each has looked for the row by then and missed it. Yields the threads that met.
    """
    from sqlalchemy import event
    from sqlalchemy.orm import Session

    gate, met = threading.Barrier(writers, timeout=PATIENCE), []

    def wait(session: Session, *_: object) -> None:
        name = threading.current_thread().name
        if name not in met and any(isinstance(row, kind) for row in session.new):
            met.append(name)
            gate.wait()

    event.listen(Session, "before_flush", wait)
    try:
        yield met
    finally:
        event.remove(Session, "before_flush", wait)


def test_a_new_dataset_logged_by_several_at_once_is_there_once(
    outputs: Path, tracking: dict[str, Any]
) -> None:
    from mlflow.store.tracking.dbmodels.models import SqlDataset

    client = store.client_of(tracking["uri"])
    entries = [make_run(outputs, method, number) for number, method in enumerate(METHODS)]
    with meeting(SqlDataset, len(METHODS)) as met, ThreadPoolExecutor(len(METHODS)) as pool:
        ids = list(pool.map(lambda entry: log_job(tracking, entry, TODAY), entries))
    assert len(met) == len(METHODS)
    runs = [client.get_run(run_id) for run_id in ids]
    assert [run.info.status for run in runs] == ["FINISHED"] * len(METHODS)
    used = [run.inputs.dataset_inputs[0].dataset for run in runs]
    assert len({(one.name, one.digest) for one in used}) == 1
    found = client.search_runs(
        [tracking["experiment_id"]], "tags.sweep = 'today' and tags.job != ''"
    )
    assert {run.info.run_id for run in found} == set(ids)


def test_what_the_database_refuses_for_another_reason_is_told(
    outputs: Path, tracking: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    from mlflow.exceptions import MlflowException
    from mlflow.protos.databricks_pb2 import BAD_REQUEST

    asked = []

    def refuse(run_id: str, *_: object) -> None:
        asked.append(run_id)
        raise MlflowException("NOT NULL constraint failed", BAD_REQUEST)

    client = store.client_of(tracking["uri"])
    monkeypatch.setattr(client, "log_inputs", refuse)
    with pytest.raises(TrackingError, match="NOT NULL constraint failed"):
        log_job(tracking, make_run(outputs), TODAY)
    assert len(asked) == 2


def test_an_experiment_made_meanwhile_on_another_machine_is_taken(
    outputs: Path, tracking: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    client = store.client_of(tracking["uri"])
    look, missed = client.get_experiment_by_name, []

    def look_too_early(name: str) -> object:
        if not missed:
            missed.append(name)
            return None
        return look(name)

    monkeypatch.setattr(client, "get_experiment_by_name", look_too_early)
    again = open_sweep(SETTINGS, outputs, Sweep({}), many=False)
    assert again is not None
    assert missed == ["onesided"]
    assert again["experiment_id"] == tracking["experiment_id"]


def test_outputs_that_share_a_database_share_its_lock(tmp_path: Path) -> None:
    uri = f"sqlite:///{tmp_path}/shared.db"
    first, second = tmp_path / "first", tmp_path / "second"
    inside = threading.Event()

    def enter() -> None:
        with store.locked(uri, second):
            inside.set()

    other = threading.Thread(target=enter)
    with store.locked(uri, first):
        other.start()
        assert not inside.wait(0.1)  # too short a wait can only hide a failure, not make one
    other.join(PATIENCE)
    assert inside.is_set()

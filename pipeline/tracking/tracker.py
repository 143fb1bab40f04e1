"""One MLflow run for each job, one parent for each sweep.

The parent process opens a sweep before any worker starts and closes it at the end; workers log
their jobs in between. All raise :class:`TrackingError` and nothing else.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.results.journal import Run
from pipeline.tracking.errors import TrackingError
from pipeline.tracking.store import client_of, experiment_id, locked, store_uri, told

if TYPE_CHECKING:
    from mlflow.entities import DatasetInput
    from mlflow.tracking import MlflowClient

    from pipeline.tracking.record import Record

__all__ = ["TrackingError", "close_sweep", "log_job", "open_sweep"]

FILES = (
    "config.yaml", "summary.json", "environment.json", "curves.parquet", "losses.parquet",
    "groups.parquet",
)  # fmt: skip
FILES_OF_FAILURE = ("config.yaml", "traceback.txt")
PARENT, NOTE, CONTEXT = "mlflow.parentRunId", "mlflow.note.content", "mlflow.data.context"
DIGEST_LENGTH = 12
MOST_PARAMS = 100  # of MLflow, in one batch
REFUSED = "BAD_REQUEST"  # what MLflow makes of a constraint of its database


def open_sweep(
    settings: Mapping[str, Any], outputs: Path, about: Mapping[str, Any], many: bool
) -> dict[str, Any] | None:
    """Make database, experiment and the sweep's own run; return where jobs are to be logged.

    Args:
        settings: the config group ``tracking``: name, uri, experiment.
        outputs: folder of the default database.
        about: the sweep: its command, number of jobs, folder name and start.
        many: whether there are more jobs than one, which then get a common parent.
    """
    if settings["name"] == "none":
        return None
    uri, name = store_uri(settings.get("uri"), outputs), str(settings["experiment"])
    with told(uri):
        with locked(uri, outputs):
            number = experiment_id(uri, name, outputs)
        parent = _open_parent(client_of(uri), number, about) if many else None
    return {"uri": uri, "experiment": name, "experiment_id": number, "parent": parent}


def log_job(tracking: Mapping[str, Any], run: Run, sweep: str) -> str:
    """Log a finished job, failed ones too, and return the id of its MLflow run.

    Args:
        tracking: what :func:`open_sweep` returned.
        run: the job; its run folder is read.
        sweep: name of the sweep's folder.
    """
    from pipeline.tracking.record import record_of

    with told(tracking["uri"]):
        client, record = client_of(tracking["uri"]), record_of(run, sweep)
        now = int(time.time() * 1000)
        parent = {PARENT: tracking["parent"]} if tracking["parent"] else {}
        made = client.create_run(
            tracking["experiment_id"],
            start_time=now - int(run.seconds * 1000),
            tags={**record.tags, **parent},
            run_name=record.name,
        )
        run_id = str(made.info.run_id)
        try:
            _fill(client, run_id, record, run, now)
        except BaseException:
            with suppress(Exception):  # half a run would be taken for a whole one
                client.delete_run(run_id)
            raise
    return run_id


def close_sweep(
    tracking: Mapping[str, Any], failed: int, picture_folder: Path | None, killed: bool = False
) -> None:
    """End the sweep's own run; keep its summary and pictures there.

    Args:
        tracking: what :func:`open_sweep` returned.
        failed: how many jobs failed or never finished.
        picture_folder: folder of the sweep.
        killed: whether the sweep was stopped.
    """
    if not tracking["parent"]:
        return
    with told(tracking["uri"]):
        client = client_of(tracking["uri"])
        for pattern in ("summary.csv", "*.png"):
            for file in sorted(picture_folder.glob(pattern)) if picture_folder else ():
                client.log_artifact(tracking["parent"], str(file))
        client.set_tag(tracking["parent"], "failed", str(failed))
        state = "KILLED" if killed else "FAILED" if failed else "FINISHED"
        client.set_terminated(tracking["parent"], state)


def _open_parent(client: MlflowClient, number: str, about: Mapping[str, Any]) -> str:
    command = str(about.get("command", ""))
    tags = {key: str(value) for key, value in about.items() if key in ("sweep", "jobs", "started")}
    run = client.create_run(
        number,
        tags={**tags, "command": command, NOTE: f"```sh\n{command}\n```"},
        run_name=f"sweep {about.get('sweep', '')}".strip(),
    )
    return str(run.info.run_id)


def _fill(client: MlflowClient, run_id: str, record: Record, run: Run, now: int) -> None:
    from mlflow.entities import Metric, Param

    from pipeline.tracking.record import CURVE

    figures = [Metric(key, value, now, 0) for key, value in record.metrics.items()]
    curve = [Metric(CURVE, value, now, step) for step, value in record.points]
    params = [Param(key, value) for key, value in record.params.items()]
    client.log_batch(run_id, metrics=[*figures, *curve], params=params[:MOST_PARAMS])
    for start in range(MOST_PARAMS, len(params), MOST_PARAMS):
        client.log_batch(run_id, params=params[start : start + MOST_PARAMS])
    if "data" in record.environment:
        _log_dataset(client, run_id, _dataset(record))
    _log_files(client, run_id, run)
    client.set_terminated(run_id, "FAILED" if run.state == "failed" else "FINISHED", now)


def _log_dataset(client: MlflowClient, run_id: str, used: DatasetInput) -> None:
    """Name a run's dataset, which MLflow keeps once for all runs.

    It looks for the dataset and adds it where it is missing. Two writers that do so at once both
    miss it, and the database refuses the second one's; asked again, MLflow finds the first one's.
    """
    from mlflow.exceptions import MlflowException

    try:
        client.log_inputs(run_id, [used])
    except MlflowException as error:
        if error.error_code != REFUSED:
            raise
        client.log_inputs(run_id, [used])


def _dataset(record: Record) -> DatasetInput:
    """Return the dataset as MLflow's input: name and hash, without reading it."""
    from mlflow.entities import Dataset, DatasetInput, InputTag

    data, summary = record.environment["data"], record.summary
    rows = summary.get("n_initial", 0) + summary.get("n_stream", 0)
    dataset = Dataset(
        name=record.params.get("dataset", "unknown"),
        digest=str(data["hash"])[:DIGEST_LENGTH],
        source_type="onesided",
        source=json.dumps({"found in": data.get("source") or "memory", "hash": data["hash"]}),
        profile=json.dumps({"num_rows": rows}),
    )
    return DatasetInput(dataset, [InputTag(CONTEXT, "stream")])


def _log_files(client: MlflowClient, run_id: str, run: Run) -> None:
    if run.folder is None:
        return
    # The folder may hold both: one computation may have succeeded and another one failed.
    names = FILES_OF_FAILURE if run.state == "failed" else FILES
    for file in (Path(run.folder) / name for name in names):
        if file.exists():
            client.log_artifact(run_id, str(file))

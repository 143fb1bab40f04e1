"""One MLflow run for each job, one parent for each sweep.

The command that runs a sweep opens it, logs each job that has ended and closes it at the end, with
MLflow's public client. A job's run ends last of all that is logged of it, and so does a sweep's:
what is found running and has nobody who is at it is half a run. All raise :class:`TrackingError`
and nothing else.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.results.journal import Run
from pipeline.tracking.errors import TrackingError
from pipeline.tracking.store import client_of, experiment_id, locked, store_uri, told
from pipeline.tracking.sweep import Sweep

if TYPE_CHECKING:
    from mlflow.entities import Run as MlflowRun
    from mlflow.tracking import MlflowClient

    from pipeline.tracking.record import Record

__all__ = ["TrackingError", "close_sweep", "is_open", "log_job", "logged_jobs", "open_sweep"]

FILES = (
    "config.yaml", "summary.json", "environment.json", "curves.parquet", "losses.parquet",
    "groups.parquet",
)  # fmt: skip
FILES_OF_FAILURE = ("config.yaml", "traceback.txt")
PARENT, NOTE, CONTEXT = "mlflow.parentRunId", "mlflow.note.content", "mlflow.data.context"
DIGEST_LENGTH = 12
MOST_PARAMS, MOST_METRICS = 100, 900  # of MLflow, in one batch
MOST_RUNS = 50_000  # of MLflow, that one search finds
IS_RUNNING = "attributes.status = 'RUNNING'"
REFUSED = "BAD_REQUEST"  # what MLflow makes of a constraint of its database


def open_sweep(
    settings: Mapping[str, Any], outputs: Path, sweep: Sweep, many: bool, again: bool = False
) -> dict[str, Any] | None:
    """Make database, experiment and the sweep's own run; return where jobs are to be logged.

    Args:
        settings: the config group ``tracking``: name, uri, experiment.
        outputs: folder of the default database.
        sweep: what it is about.
        many: whether there are more jobs than one, which then get a common parent.
        again: whether somebody may have opened it and been killed before noting that.
    """
    if settings["name"] == "none":
        return None
    uri, name = store_uri(settings.get("uri"), outputs), str(settings["experiment"])
    with told(uri):
        with locked(uri, outputs):
            number = experiment_id(uri, name, outputs)
        parent = _open_parent(client_of(uri), number, sweep, again) if many else None
    return {"uri": uri, "experiment": name, "experiment_id": number, "parent": parent}


def log_job(tracking: Mapping[str, Any], run: Run, sweep: Sweep) -> str:
    """Log a finished job, failed ones too, and return the id of its MLflow run.

    Args:
        tracking: what :func:`open_sweep` returned.
        run: the job; its run folder is read.
        sweep: what it is part of.
    """
    from pipeline.tracking.record import record_of

    with told(tracking["uri"]):
        client, record = client_of(tracking["uri"]), record_of(run, sweep)
        now = _now()
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


def logged_jobs(tracking: Mapping[str, Any], sweep: Sweep) -> dict[tuple[int, str | None], str]:
    """Return the runs of a sweep that are there, by number and hash; remove what is half logged.

    Somebody who was killed may have left half a run, or a whole one without noting it. Nobody must
    be logging jobs of the sweep meanwhile.
    """
    mine = _equals(PARENT, tracking["parent"] or "")
    if not tracking["parent"]:
        mine = f"{_equals('sweep', sweep.label)} and tags.job != ''"
    there = {}
    with told(tracking["uri"]):
        client = client_of(tracking["uri"])
        for found in _search(client, tracking["experiment_id"], mine):
            if found.info.status == "RUNNING":
                client.delete_run(found.info.run_id)
            else:
                tags = found.data.tags
                there[int(tags["job"]), tags.get("hash")] = str(found.info.run_id)
    return there


def is_open(tracking: Mapping[str, Any]) -> bool:
    """Tell whether the sweep's own run is there and has not ended."""
    itself = f"attributes.run_id = '{tracking['parent']}' and {IS_RUNNING}"
    with told(tracking["uri"]):
        client = client_of(tracking["uri"])
        return bool(_search(client, tracking["experiment_id"], itself))


def close_sweep(
    tracking: Mapping[str, Any],
    failed: int,
    picture_folder: Path | None,
    killed: bool = False,
    metrics: Mapping[str, float] | None = None,
) -> None:
    """End the sweep's own run; keep its summary and pictures there.

    Args:
        tracking: what :func:`open_sweep` returned.
        failed: how many jobs failed or never finished.
        picture_folder: folder of the sweep.
        killed: whether the sweep was stopped.
        metrics: figures of the whole.
    """
    from mlflow.entities import Metric

    if not tracking["parent"]:
        return
    with told(tracking["uri"]):
        client, now = client_of(tracking["uri"]), _now()
        figures = [Metric(key, value, now, 0) for key, value in (metrics or {}).items()]
        client.log_batch(tracking["parent"], metrics=figures)
        for pattern in ("summary.csv", "*.png"):
            for file in sorted(picture_folder.glob(pattern)) if picture_folder else ():
                client.log_artifact(tracking["parent"], str(file))
        client.set_tag(tracking["parent"], "failed", str(failed))
        state = "KILLED" if killed else "FAILED" if failed else "FINISHED"
        client.set_terminated(tracking["parent"], state)


def _open_parent(client: MlflowClient, number: str, sweep: Sweep, again: bool) -> str:
    from mlflow.entities import Param

    about = sweep.about
    tags = {key: str(about[key]) for key in ("sweep", "jobs", "started") if key in about}
    filters = " and ".join([*(_equals(key, value) for key, value in tags.items()), IS_RUNNING])
    left = next(iter(_search(client, number, filters)), None) if again else None
    command = str(about.get("command", ""))
    tags |= {"command": command, NOTE: f"```sh\n{command}\n```"}
    run = left or client.create_run(number, tags=tags, run_name=sweep.name)
    params = [Param(key, value) for key, value in sweep.params.items()]
    client.log_batch(run.info.run_id, params=params)
    return str(run.info.run_id)


def _search(client: MlflowClient, number: str, filters: str) -> Sequence[MlflowRun]:
    found: Sequence[MlflowRun] = client.search_runs([number], filters, max_results=MOST_RUNS)
    return found


def _equals(tag: str, value: str) -> str:
    quote = "'" if '"' in value else '"'
    return f"tags.`{tag}` = {quote}{value}{quote}"


def _now() -> int:
    return int(time.time() * 1000)


def _fill(client: MlflowClient, run_id: str, record: Record, run: Run, now: int) -> None:
    from mlflow.entities import Metric, Param

    points = [(key, 0, value) for key, value in record.metrics.items()] + record.points
    metrics = [Metric(key, value, now, step) for key, step, value in points]
    params = [Param(key, value) for key, value in record.params.items()]
    batches = max(math.ceil(len(metrics) / MOST_METRICS), math.ceil(len(params) / MOST_PARAMS))
    for k in range(batches):
        some = metrics[k * MOST_METRICS : (k + 1) * MOST_METRICS]
        client.log_batch(run_id, some, params[k * MOST_PARAMS : (k + 1) * MOST_PARAMS])
    if "data" in record.environment:
        _log_dataset(client, run_id, record)
    # The folder may hold both: one computation may have succeeded and another one failed.
    names = FILES_OF_FAILURE if run.state == "failed" else FILES
    files = [Path(run.folder) / name for name in names] if run.folder else []
    for file in filter(Path.exists, files):
        client.log_artifact(run_id, str(file))
    client.set_terminated(run_id, "FAILED" if run.state == "failed" else "FINISHED", now)


def _log_dataset(client: MlflowClient, run_id: str, record: Record) -> None:
    """Name a run's dataset by name and hash, without reading it; MLflow keeps it for all runs.

    It looks for the dataset and adds it where it is missing. Two writers that do so at once both
    miss it, and the database refuses the second one's; asked again, MLflow finds the first one's.
    """
    from mlflow.entities import Dataset, DatasetInput, InputTag
    from mlflow.exceptions import MlflowException

    data, summary = record.environment["data"], record.summary
    rows = summary.get("n_initial", 0) + summary.get("n_stream", 0)
    dataset = Dataset(
        name=record.params.get("dataset", "unknown"),
        digest=str(data["hash"])[:DIGEST_LENGTH],
        source_type="onesided",
        source=json.dumps({"found in": data.get("source") or "memory", "hash": data["hash"]}),
        profile=json.dumps({"num_rows": rows}),
    )
    used = [DatasetInput(dataset, [InputTag(CONTEXT, "stream")])]
    try:
        client.log_inputs(run_id, used)
    except MlflowException as error:
        if error.error_code != REFUSED:
            raise
        client.log_inputs(run_id, used)

"""Log what MLflow has missed.

A sweep whose server was down has its results in files; this tells MLflow of them, and how the sweep
ended. What has been logged is not logged again, half of a run is removed, and sweeps that are still
running are left alone. Sweeps with ``tracking=none`` are logged where ``tracking.uri`` says, and
left alone where it says nothing.

Examples:
    python -m pipeline.sync
    python -m pipeline.sync outputs=elsewhere
    python -m pipeline.sync tracking.uri=http://127.0.0.1:5000
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pipeline.command_line import FAILED, REFUSED, guarded, settings
from pipeline.results.journal import Journal, Run, find_sweeps
from pipeline.results.runs import PARTS, runs_dir
from pipeline.terminal import any_terminal
from pipeline.tracking import tracker
from pipeline.tracking.errors import TrackingError
from pipeline.tracking.store import hold, store_uri
from pipeline.tracking.sweep import Sweep, content_of

SETTINGS = {
    "outputs": ("outputs", "folder of the sweeps"),
    "tracking.uri": ("", "another store than the one the sweeps wanted"),
}
EXPERIMENT = "onesided"  # of MLflow, for sweeps that wanted none


def main(arguments: Sequence[str] | None = None) -> int:
    """Log all that is missing; return 1 if MLflow does not answer, 2 if the command is wrong."""
    any_terminal()
    errors = {TrackingError: FAILED, ValueError: REFUSED}
    return guarded(lambda: _sync(arguments), errors, prefix="")


def _sync(arguments: Sequence[str] | None) -> int:
    given = settings("pipeline.sync", str(__doc__), SETTINGS, arguments)
    outputs = Path(given["outputs"])
    if not outputs.is_dir():
        raise ValueError(f"outputs={outputs}: no such folder")
    n_logged = sync(outputs, given["tracking.uri"] or None)
    print(f"{_jobs(n_logged)} logged" if n_logged else "nothing to log")
    return 0


def sync(outputs: Path, uri: str | None = None) -> int:
    """Log the finished jobs of all sweeps that MLflow does not know; return their number.

    Args:
        outputs: folder of the sweeps.
        uri: of another store than the one the sweeps wanted.
    """
    n_logged, outputs = 0, outputs.resolve()
    for journal in find_sweeps(outputs):
        held = hold(journal.path)
        if held is None:  # still running
            continue
        try:
            n_logged += _sync_sweep(journal, outputs, uri)
        finally:
            os.close(held)
    return n_logged


def _sync_sweep(journal: Journal, outputs: Path, uri: str | None) -> int:
    """Log what MLflow lacks of one sweep: jobs, and the end of its own run."""
    wanted = _wanted(journal, uri)
    runs = [_found_in(run, outputs) for run in journal.runs()]
    missing = [run for run in runs if _is_missing(run)]
    if wanted["name"] == "none" or not (missing or _lacks_end(journal, wanted, outputs)):
        return 0
    about = journal.about
    sweep = Sweep({**about, "content": about.get("content") or content_of(r.labels for r in runs)})
    tracking = _open(journal, sweep, wanted, outputs)
    there = tracker.logged_jobs(tracking, sweep)
    for run in missing:
        name = None if run.folder is None else Path(run.folder).name
        number = there.get((run.number, name)) or tracker.log_job(tracking, run, sweep)
        journal.write(run.but(tracked=number, untracked=None))
    _close(journal, tracking, sweep)
    if missing:
        print(f"sweep {journal.path.name}: {_jobs(len(missing))} logged", flush=True)
    return len(missing)


def _wanted(journal: Journal, uri: str | None) -> dict[str, Any]:
    """Return how a sweep is to be tracked; an address given now counts more than no wish then."""
    wanted = journal.about.get("tracking_wanted") or {"name": "none"}
    if wanted["name"] == "none" and uri:
        return {"name": "mlflow", "experiment": EXPERIMENT, "uri": uri}
    return {**wanted, "uri": uri or wanted.get("uri")}


def _is_missing(run: Run) -> bool:
    """Tell whether MLflow lacks a job that can be logged: its results may have been removed."""
    if not run.is_over or run.tracked is not None:
        return False
    return run.state == "failed" or (run.folder is not None and run.results().state == "done")


def _lacks_end(journal: Journal, wanted: dict[str, Any], outputs: Path) -> bool:
    """Tell whether the sweep's own run is there and was not ended."""
    tracking = journal.about.get("tracking") or {}
    if not tracking.get("parent") or tracking.get("ended"):
        return False
    return tracking["uri"] == store_uri(wanted["uri"], outputs) and tracker.is_open(tracking)


def _open(journal: Journal, sweep: Sweep, wanted: dict[str, Any], outputs: Path) -> dict[str, Any]:
    """Return where a sweep is tracked; it is opened where it was not, or elsewhere."""
    about = journal.about
    tracking = about.get("tracking")
    if tracking is None or tracking["uri"] != store_uri(wanted["uri"], outputs):
        many = bool(about.get("many", about.get("jobs", 1) > 1))
        tracking = tracker.open_sweep(wanted, outputs, sweep, many, again=True)
        assert tracking is not None
        journal.open({**about, "tracking": tracking})
    return dict(tracking)


def _close(journal: Journal, tracking: dict[str, Any], sweep: Sweep) -> None:
    """End the sweep's own run; jobs that never finished count as failed."""
    runs = list(journal.runs())
    good = sum(run.is_done for run in runs)
    failed = max(0, int(journal.about.get("jobs", good)) - good)
    tracker.close_sweep(tracking, failed, journal.path, metrics=sweep.metrics(runs, failed))
    journal.open({**journal.about, "tracking": {**tracking, "ended": True}})


def _found_in(run: Run, outputs: Path) -> Run:
    """Return the job with its run folder under ``outputs``, which may have been moved."""
    if run.folder is None:
        return run
    parts = Path(run.folder).parts[-len(PARTS) - 1 :]
    return run.but(folder=str(runs_dir(outputs).joinpath(*parts)))


def _jobs(count: int) -> str:
    return f"{count} job" if count == 1 else f"{count} jobs"


if __name__ == "__main__":
    sys.exit(main())

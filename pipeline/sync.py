"""Log what MLflow has missed.

A sweep whose server was down has its results in files; this tells MLflow of them. What has been
logged is not logged again. Sweeps with ``tracking=none`` are logged where ``tracking.uri`` says,
and left alone where it says nothing.

Examples:
    python -m pipeline.sync
    python -m pipeline.sync outputs=elsewhere
    python -m pipeline.sync tracking.uri=http://127.0.0.1:5000
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pipeline.command_line import FAILED, REFUSED, guarded, settings
from pipeline.results.journal import FINISHED, Journal, Run, find_sweeps
from pipeline.results.runs import PARTS, RunFolder, runs_dir
from pipeline.terminal import any_terminal
from pipeline.tracking.store import store_uri
from pipeline.tracking.tracker import TrackingError, close_sweep, log_job, open_sweep

SETTINGS = {
    "outputs": ("outputs", "folder of the sweeps"),
    "tracking.uri": ("", "another store than the one the sweeps wanted"),
}
EXPERIMENT = "onesided"  # of MLflow, for sweeps that wanted none


def main(arguments: Sequence[str] | None = None) -> int:
    """Log all that is missing; return 1 if MLflow does not answer, 2 if the command is wrong."""
    any_terminal()
    given = sys.argv[1:] if arguments is None else arguments
    return guarded(lambda: _sync(given), {TrackingError: FAILED, ValueError: REFUSED}, prefix="")


def _sync(arguments: Sequence[str]) -> int:
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
    n_logged = 0
    for journal in find_sweeps(outputs):
        wanted = _wanted(journal, uri)
        missing = [run for run in journal.runs() if _is_missing(run, outputs)]
        if wanted["name"] == "none" or not missing:
            continue
        tracking, opened = _open(journal, {**wanted, "uri": uri or wanted.get("uri")}, outputs)
        for run in missing:
            number = log_job(tracking, _found_in(run, outputs), journal.path.name)
            journal.write(run.but(tracked=number, untracked=None))
        if opened:
            close_sweep(tracking, _failed(journal), journal.path)
        n_logged += len(missing)
        print(f"sweep {journal.path.name}: {_jobs(len(missing))} logged", flush=True)
    return n_logged


def _wanted(journal: Journal, uri: str | None) -> dict[str, Any]:
    """Return how a sweep is to be tracked; an address given now counts more than no wish then."""
    wanted = journal.about.get("tracking_wanted") or {"name": "none"}
    if wanted["name"] == "none" and uri:
        return {"name": "mlflow", "experiment": EXPERIMENT}
    return dict(wanted)


def _is_missing(run: Run, outputs: Path) -> bool:
    """Tell whether MLflow lacks a job that can be logged: its results may have been removed."""
    if run.state not in FINISHED or run.tracked is not None:
        return False
    folder = _found_in(run, outputs).folder
    return run.state == "failed" or (folder is not None and _is_done(folder))


def _is_done(folder: str) -> bool:
    return RunFolder(Path(folder)).state == "done"


def _open(journal: Journal, wanted: dict[str, Any], outputs: Path) -> tuple[dict[str, Any], bool]:
    """Return where a sweep is tracked and whether that is new."""
    about = journal.about
    tracking = about.get("tracking")
    if tracking is not None and tracking["uri"] == store_uri(wanted["uri"], outputs):
        return tracking, False
    opened = open_sweep(wanted, outputs, about, many=about.get("jobs", 1) > 1)
    assert opened is not None
    journal.open({**about, "tracking": opened})
    return opened, True


def _found_in(run: Run, outputs: Path) -> Run:
    """Return the job with its run folder under ``outputs``, which may have been moved."""
    if run.folder is None:
        return run
    parts = Path(run.folder).parts[-len(PARTS) - 1 :]
    return run.but(folder=str(runs_dir(outputs).joinpath(*parts)))


def _failed(journal: Journal) -> int:
    """Return how many jobs failed or never finished."""
    good = sum(run.state in ("computed", "kept") for run in journal.runs())
    return max(0, int(journal.about.get("jobs", good)) - good)


def _jobs(count: int) -> str:
    return f"{count} job" if count == 1 else f"{count} jobs"


if __name__ == "__main__":
    sys.exit(main())

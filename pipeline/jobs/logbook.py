"""Cells that run in blocks as MLflow sees them: a journal like that of a sweep of jobs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pipeline.jobs.runner import Run
from pipeline.results.files import read_json
from pipeline.results.outcome import SUMMARY
from pipeline.results.sweeps import Entry, Journal, find_sweeps
from pipeline.tracking.store import store_uri
from pipeline.tracking.tracker import TrackingError, close_sweep, log_job, open_sweep

Say = Callable[[str], None]


def log_new(
    runs: Sequence[Run], settings: Mapping[str, Any], outputs: Path, call: str, say: Say
) -> None:
    """Log the cells that MLflow does not know yet, as one sweep.

    A cell that was kept is known if the journal of an earlier sweep says so.

    Args:
        runs: what became of the cells.
        settings: the config group ``tracking``.
        outputs: folder of the sweeps.
        call: what to show as the command.
        say: shows a line: how many there are, what cannot be logged.
    """
    if settings["name"] == "none":
        return
    known = _known(store_uri(settings.get("uri"), outputs), outputs)
    new = [run for run in runs if run.state != "kept" or _name(run) not in known]
    if not new:
        return
    say(f"logging {len(new):,} cells in MLflow")
    logbook = Logbook.open(settings, outputs, len(new), call, say)
    for number, run in enumerate(new):
        logbook.log(number, run)
    logbook.close()


def tracked(tracking: Mapping[str, Any] | None, entry: Entry, sweep: str) -> Entry:
    """Log a finished job where its sweep is tracked; what cannot be logged is noted.

    Args:
        tracking: what ``open_sweep`` returned.
        entry: the job.
        sweep: name of the sweep's folder.
    """
    if tracking is None:
        return entry
    try:
        return entry.but(tracked=log_job(tracking, entry, sweep))
    except TrackingError as error:
        return entry.but(untracked=str(error))


def _known(uri: str, outputs: Path) -> set[str]:
    """Return the names of the run folders that a store has been told of."""
    journals = [
        journal
        for journal in find_sweeps(outputs)
        if (journal.about.get("tracking") or {}).get("uri") == uri
    ]
    entries = [entry for journal in journals for entry in journal.entries()]
    return {Path(entry.folder).name for entry in entries if entry.tracked and entry.folder}


def _name(run: Run) -> str | None:
    return None if run.folder is None else run.folder.path.name


@dataclass(frozen=True)
class Logbook:
    """The journal of cells that run in blocks, and where it is tracked."""

    journal: Journal
    tracking: dict[str, Any] | None
    warn: Say

    @classmethod
    def open(
        cls, settings: Mapping[str, Any], outputs: Path, total: int, call: str, warn: Say
    ) -> Logbook:
        """Make journal, database and the sweep's own run; a server that is down is a warning.

        Args:
            settings: the config group ``tracking``.
            outputs: folder of the sweeps.
            total: number of cells.
            call: what to show as the command.
            warn: is told, in a line, what cannot be logged.
        """
        now = datetime.now(UTC)
        journal = Journal(outputs / "sweeps" / now.strftime("%Y%m%d-%H%M%S-%f"))
        about = {
            "command": call,
            "jobs": total,
            "sweep": journal.path.name,
            "started": now.isoformat(timespec="seconds"),
            "tracking_wanted": dict(settings),
        }
        journal.open({**about, "tracking": None})
        try:
            tracking = open_sweep(settings, outputs, about, many=total > 1)
        except TrackingError as error:
            warn(str(error))
            tracking = None
        journal.open({**about, "tracking": tracking})
        return cls(journal, tracking, warn)

    def log(self, number: int, run: Run) -> None:
        """Write down what became of a cell, and log it."""
        folder = None if run.folder is None else run.folder.path
        failed = folder is None or run.state == "failed"
        entry = Entry(
            number=number,
            state=run.state,
            labels=run.cell.labels,
            folder=None if folder is None else str(folder),
            summary=None if failed else read_json(Path(str(folder)) / SUMMARY),
            reason=run.reason,
            seconds=run.seconds,
            progress=1.0,
        )
        self.journal.write(tracked(self.tracking, entry, self.journal.path.name))

    def close(self) -> None:
        """End the sweep's own run."""
        entries = list(self.journal.entries())
        untracked = [entry.untracked for entry in entries if entry.untracked]
        if untracked:
            self.warn(f"{len(untracked)} cells: {untracked[0]}")
        if self.tracking is None:
            return
        failed = sum(entry.state == "failed" for entry in entries)
        try:
            close_sweep(self.tracking, failed, self.journal.path)
        except TrackingError as error:
            self.warn(str(error))

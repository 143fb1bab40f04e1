"""A sweep from Python as MLflow sees it: a journal like that of a command, logged as it goes."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pipeline.jobs.runner import Run
from pipeline.results.files import read_json
from pipeline.results.outcome import SUMMARY
from pipeline.results.sweeps import Entry, Journal
from pipeline.tracking.tracker import TrackingError, close_sweep, log_job, open_sweep


@dataclass(frozen=True)
class Logbook:
    """The journal of one call of ``sweep``, and where it is tracked."""

    journal: Journal
    tracking: dict[str, Any] | None

    @classmethod
    def open(cls, settings: Mapping[str, Any], outputs: Path, total: int, call: str) -> Logbook:
        """Make journal, database and the sweep's own run; a server that is down is a warning.

        Args:
            settings: the config group ``tracking``.
            outputs: folder of the sweeps.
            total: number of cells.
            call: what to show as the command.
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
            warnings.warn(str(error), stacklevel=3)
            tracking = None
        journal.open({**about, "tracking": tracking})
        return cls(journal, tracking)

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
        self.journal.write(self._tracked(entry))

    def close(self) -> None:
        """End the sweep's own run."""
        entries = list(self.journal.entries())
        untracked = [entry.untracked for entry in entries if entry.untracked]
        if untracked:
            warnings.warn(f"{len(untracked)} cells: {untracked[0]}", stacklevel=3)
        if self.tracking is None:
            return
        failed = sum(entry.state == "failed" for entry in entries)
        try:
            close_sweep(self.tracking, failed, self.journal.path)
        except TrackingError as error:
            warnings.warn(str(error), stacklevel=3)

    def _tracked(self, entry: Entry) -> Entry:
        if self.tracking is None:
            return entry
        try:
            return entry.but(tracked=log_job(self.tracking, entry, self.journal.path.name))
        except TrackingError as error:
            return entry.but(untracked=str(error))

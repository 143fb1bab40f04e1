"""The parent's side of a sweep: its journal, and MLflow, which is told from this process alone."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pipeline.cells.cell import Cell
from pipeline.results.journal import Journal, Run, find_sweeps
from pipeline.tracking.store import hold, import_mlflow, store_uri
from pipeline.tracking.sweep import Sweep, content_of, span
from pipeline.tracking.tracker import TrackingError, close_sweep, log_job, open_sweep

Say = Callable[[str], None]


@dataclass
class Desk:
    """Where what became of each cell is written down and told.

    Attributes:
        journal: of the sweep.
        sweep: what it is about.
        outputs: folder of all results.
        warn: is told, in a line, what cannot be logged.
        known: run folders that need not be logged again, by name, with their run in MLflow.
    """

    journal: Journal
    sweep: Sweep
    outputs: Path
    warn: Say
    known: Mapping[str, str] = field(default_factory=dict)
    _hold: int | None = None
    _tracking: dict[str, Any] | None = None
    _asked: bool = False

    @property
    def needed(self) -> bool:
        """Tell whether there was something to log, be it that MLflow did not answer."""
        return self._asked and self.sweep.is_tracked

    def prepare(self) -> None:
        """Import MLflow, which takes seconds, while the first cells are computed."""
        if not self.known and self.sweep.is_tracked:
            import_mlflow()

    def log(self, run: Run) -> Run:
        """Log a cell that has ended where its sweep is tracked; what cannot be logged is noted."""
        before = self.known.get(Path(run.folder or "").name)
        told = self._told(run) if before is None else run.but(tracked=before)
        if told == run:
            return run
        with suppress(OSError):  # a full disk; what is not noted as logged can be logged again
            self.journal.write(told)
        return told

    def _told(self, run: Run) -> Run:
        if not self._asked:
            self._asked = True
            self._open()
        if self._tracking is None:
            return run
        try:
            return run.but(tracked=log_job(self._tracking, run, self.sweep))
        except TrackingError as error:
            return run.but(untracked=str(error))

    def _open(self) -> None:
        """Have MLflow begin the sweep; it is asked once, when it is first needed."""
        about = self.sweep.about
        try:
            wanted = about["tracking_wanted"]
            self._tracking = open_sweep(wanted, self.outputs, self.sweep, many=about["many"])
        except TrackingError as error:
            self.warn(str(error))
        else:
            self._note(self._tracking)

    def close(self, failed: int, killed: bool = False) -> None:
        """End the sweep's own run in MLflow, if it has one; what was missed is left to sync.

        Args:
            failed: cells that failed or never finished.
            killed: whether the sweep was stopped.
        """
        try:
            self._end(failed, killed)
        except KeyboardInterrupt:  # the first: whoever stops twice means it
            if not killed:
                self._end(failed, killed=True)
            raise
        finally:
            if self._hold is not None:
                os.close(self._hold)
                self._hold = None

    def _end(self, failed: int, killed: bool) -> None:
        if self._tracking is None:
            return
        figures = self.sweep.metrics(list(self.journal.runs()), failed)
        try:
            close_sweep(self._tracking, failed, self.journal.path, killed, figures)
            self._note({**self._tracking, "ended": True})
        except TrackingError as error:
            self.warn(str(error))

    def _note(self, tracking: Mapping[str, Any] | None) -> None:
        with suppress(OSError):  # a full disk
            self.journal.open({**self.sweep.about, "tracking": tracking})


def open_desk(
    folder: Path,
    outputs: Path,
    command: str,
    jobs: Sequence[Sequence[str]],
    tracking: Mapping[str, Any],
    warn: Say,
    cells: Iterable[Cell] = (),
    many: bool = True,
    again: bool = True,
) -> Desk:
    """Begin the journal of a sweep.

    Args:
        folder: of the sweep.
        outputs: of all results.
        command: what to show as the command.
        jobs: the overrides of each cell.
        tracking: the config group of that name.
        warn: is told what cannot be logged.
        cells: those that could be read.
        many: whether there is more than one cell, which then get a common parent in MLflow.
        again: whether cells are logged that an earlier sweep has logged.
    """
    journal = Journal(folder)
    about = {
        "command": command,
        "jobs": len(jobs),
        "sweep": folder.name,
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "many": many,
        "overrides": [list(job) for job in jobs],
        "content": content_of(
            {**cell.labels, "splits": span(cell.splits), "seed": str(cell.seed)} for cell in cells
        ),
        "tracking_wanted": dict(tracking),
        "tracking": None,
    }
    journal.open(about)
    uri = store_uri(tracking.get("uri"), outputs)
    known = {} if again else _logged(uri, outputs)
    return Desk(journal, Sweep(about), outputs, warn, known, hold(folder))


def sweep_folder(outputs: Path) -> Path:
    """Return the folder of a new sweep, named after the time."""
    return outputs / "sweeps" / datetime.now(UTC).strftime("%Y%m%d-%H%M%S-%f")


def _logged(uri: str, outputs: Path) -> dict[str, str]:
    """Return the run folders that a store has been told of, by name, with their run there."""
    return {
        Path(run.folder).name: run.tracked
        for journal in find_sweeps(outputs)
        if (journal.about.get("tracking") or {}).get("uri") == uri
        for run in journal.runs()
        if run.tracked and run.folder and run.is_done
    }

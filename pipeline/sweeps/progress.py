"""What is seen while a sweep runs: a bar in a terminal, plain lines in a log."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from pipeline.jobs.lines import job_text, name_text
from pipeline.results.sweeps import Entry


class Bar:
    """A listener that shows how far a sweep is.

    Args:
        total: number of cells.
        stream: where to write; a bar if it is a terminal, a line for each cell if not.
    """

    def __init__(self, total: int, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._total, self._ended, self._failed = total, 0, 0
        self._console = Console(file=self._stream, highlight=False, soft_wrap=True)
        self._bar = Progress(
            BarColumn(24), MofNCompleteColumn(), TextColumn("{task.description}", markup=False),
            console=self._console, transient=True, disable=not self._stream.isatty(),
        )  # fmt: skip
        self._task = self._bar.add_task("", total=total)
        self._bar.start()

    def finished(self, entry: Entry) -> None:
        """Count a cell that has ended; a log gets a line, a terminal only that of a failure."""
        self._ended += 1
        self._failed += entry.state == "failed"
        if not self._stream.isatty():
            done = f"[{self._ended:{len(str(self._total))}}/{self._total}]"
            self._stream.write(f"{done} {job_text(entry)}\n")
            self._stream.flush()
        elif entry.state == "failed":
            self._bar.console.print(job_text(entry), markup=False)

    def running(self, entries: Sequence[Entry]) -> None:
        """Show the cells that are computed now."""
        texts = [f"{self._failed} failed"] if self._failed else []
        texts += [f"{name_text(entry.labels)} {entry.progress:.0%}" for entry in entries]
        share = self._ended + sum(entry.progress for entry in entries)
        self._bar.update(self._task, completed=share, description=" · ".join(texts))

    def close(self) -> None:
        """Take the bar away."""
        self._bar.stop()

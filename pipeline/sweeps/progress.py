"""How a sweep goes: read from its journal while it runs, shown as a bar or as plain lines."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from pipeline.results.journal import Journal, Run
from pipeline.view.names import name_text, run_text

SECONDS_BETWEEN_LOOKS = 0.2


class Listener:
    """Who is told how a sweep goes; this one does not care."""

    def finished(self, run: Run) -> None:
        """Be told of a cell that has ended."""

    def running(self, runs: Sequence[Run]) -> None:
        """Be told of the cells that are computed now."""

    def close(self) -> None:
        """Be told that nothing more will come."""


@contextmanager
def following(
    journal: Journal, log: Callable[[Run], Run], listener: Listener, prepare: Callable[[], None]
) -> Iterator[None]:
    """Look into a journal now and then while the block runs, and a last time after it.

    So a sweep is followed in whatever processes and on whatever machines it runs.

    Args:
        journal: of the sweep.
        log: is handed every cell that has ended, and returns what is known of it then.
        listener: is told of it.
        prepare: is called at once, beside the block.
    """
    stop, enough, ended = (threading.Event() for _ in range(3))
    seen = set[int]()

    def look() -> None:
        running = []
        for number in journal.numbers():
            run = None if number in seen or enough.is_set() else journal.read(number)
            if run is not None and run.is_over:
                seen.add(number)
                listener.finished(log(run))
            elif run is not None:
                running.append(run)
        listener.running(running)

    def look_until_stopped() -> None:
        try:
            prepare()
            while not stop.wait(SECONDS_BETWEEN_LOOKS):
                look()
        finally:
            ended.set()

    threading.Thread(target=look_until_stopped, daemon=True).start()
    try:
        yield
    finally:
        stop.set()
        try:
            ended.wait()  # joining a thread takes it for ended once that is interrupted
            look()
        except KeyboardInterrupt:  # a thread that is left alone leaves half a run in MLflow
            enough.set()
            ended.wait()
            raise
        finally:
            listener.close()


class Bar(Listener):
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

    def finished(self, run: Run) -> None:
        """Count a cell that has ended; a log gets a line, a terminal only that of a failure."""
        self._ended += 1
        self._failed += run.state == "failed"
        if not self._stream.isatty():
            done = f"[{self._ended:{len(str(self._total))}}/{self._total}]"
            self._stream.write(f"{done} {run_text(run)}\n")
            self._stream.flush()
        elif run.state == "failed":
            self._bar.console.print(run_text(run), markup=False)

    def running(self, runs: Sequence[Run]) -> None:
        """Show the cells that are computed now."""
        texts = [f"{self._failed} failed"] if self._failed else []
        texts += [f"{name_text(run.labels)} {run.progress:.0%}" for run in runs]
        share = self._ended + sum(run.progress for run in runs)
        self._bar.update(self._task, completed=share, description=" · ".join(texts))

    def close(self) -> None:
        """Take the bar away."""
        self._bar.stop()

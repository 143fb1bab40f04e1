"""What is seen while a sweep runs: a progress bar in a terminal, plain lines in a log."""

from __future__ import annotations

import shutil
import sys
import threading
from typing import TextIO

from pipeline.jobs.lines import job_text, name_text
from pipeline.results.sweeps import FINISHED, Entry, Journal

CLEAR = "\r\033[K"
BAR_WIDTH = 24


class Watch:
    """Reads the journal of a sweep now and then and shows how far it is.

    Args:
        journal: of the sweep.
        total: number of jobs.
        stream: where to write; a bar if it is a terminal.
        interval: seconds between two looks.
    """

    def __init__(
        self, journal: Journal, total: int, stream: TextIO | None = None, interval: float = 0.2
    ) -> None:
        self._journal, self._total = journal, total
        self._stream = stream or sys.stderr
        self._interval = interval
        self._finished: dict[int, Entry] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._loop, daemon=True)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def stop(self) -> None:
        """Look a last time and clear the bar."""
        self._stop.set()
        self._thread.join()
        self._look()
        if self._stream.isatty():
            self._write(CLEAR)

    def _loop(self) -> None:
        while not self._stop.wait(self._interval):
            self._look()

    def _look(self) -> None:
        running = []
        for number in range(self._total):
            if number in self._finished:
                continue
            entry = self._journal.read(number)
            if entry is not None and entry.state in FINISHED:
                self._finish(entry)
            elif entry is not None:
                running.append(entry)
        if self._stream.isatty():
            self._write(CLEAR + self._bar(running))

    def _finish(self, entry: Entry) -> None:
        self._finished[entry.number] = entry
        done = f"[{len(self._finished):{len(str(self._total))}}/{self._total}]"
        if not self._stream.isatty():
            self._write(f"{done} {job_text(entry)}\n")
        elif entry.state == "failed":
            self._write(f"{CLEAR}{job_text(entry)}\n")

    def _bar(self, running: list[Entry]) -> str:
        share = len(self._finished) + sum(entry.progress for entry in running)
        filled = int(BAR_WIDTH * share / max(self._total, 1))
        bar = "━" * filled + "╌" * (BAR_WIDTH - filled)
        failed = sum(entry.state == "failed" for entry in self._finished.values())
        parts = [f"{bar} {len(self._finished)}/{self._total}"]
        parts += [f"{failed} failed"] if failed else []
        parts += [f"{name_text(entry.labels)} {entry.progress:.0%}" for entry in running]
        width = shutil.get_terminal_size().columns - 1
        return " · ".join(parts)[:width]

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()

"""Follow a sweep through its journal, in whatever processes and on whatever machines it runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from pipeline.results.sweeps import FINISHED, Entry, Journal

SECONDS_BETWEEN_LOOKS = 0.2


class Listener(Protocol):
    """Who is told how a sweep goes."""

    def finished(self, entry: Entry) -> None:
        """Be told of a cell that has ended."""

    def running(self, entries: Sequence[Entry]) -> None:
        """Be told of the cells that are computed now."""

    def close(self) -> None:
        """Be told that nothing more will come."""


@contextmanager
def following(
    journal: Journal, log: Callable[[Entry], Entry], listener: Listener
) -> Iterator[None]:
    """Look into a journal now and then while the block runs, and a last time after it.

    Args:
        journal: of the sweep.
        log: is handed every cell that has ended, and returns what is known of it then.
        listener: is told of it.
    """
    follower = _Follower(journal, log, listener)
    thread = threading.Thread(target=follower.look_until_stopped, daemon=True)
    thread.start()
    try:
        yield
    finally:
        follower.stop.set()
        thread.join()
        follower.look()
        listener.close()


class _Follower:
    def __init__(self, journal: Journal, log: Callable[[Entry], Entry], listener: Listener) -> None:
        self.journal, self.log, self.listener = journal, log, listener
        self.stop = threading.Event()
        self._seen: set[int] = set()

    def look_until_stopped(self) -> None:
        while not self.stop.wait(SECONDS_BETWEEN_LOOKS):
            self.look()

    def look(self) -> None:
        running = []
        for number in self.journal.numbers():
            if number in self._seen:
                continue
            entry = self.journal.read(number)
            if entry is not None and entry.state in FINISHED:
                self._seen.add(number)
                self.listener.finished(self.log(entry))
            elif entry is not None:
                running.append(entry)
        self.listener.running(running)

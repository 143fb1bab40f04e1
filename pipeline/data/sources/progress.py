"""A progress bar on a terminal, a few plain lines elsewhere; both on stderr."""

from __future__ import annotations

import sys
import time
from typing import TextIO

BAR = 30


class Progress:
    """Progress of one download.

    Args:
        label: what is fetched.
        total: its size in bytes, None if the server does not say.
        stream: where to write.
    """

    def __init__(self, label: str, total: int | None, stream: TextIO | None = None) -> None:
        self.label, self.total, self.done = label, total, 0
        self.stream = stream or sys.stderr
        self.terminal = self.stream.isatty()
        self.shown_at = 0.0
        if not self.terminal:
            self._write(f"{label}: fetching{'' if total is None else f' {megabytes(total)}'}\n")

    def advance(self, n_bytes: int) -> None:
        """Note that more bytes are there."""
        self.done += n_bytes
        if self.terminal and time.monotonic() - self.shown_at > 0.1:
            self._write(f"\r{self._line()}")
            self.shown_at = time.monotonic()

    def close(self, complete: bool) -> None:
        """End the line."""
        if self.terminal:
            self._write(f"\r{self._line()}{'' if complete else ' stopped'}\n")
        elif complete:
            self._write(f"{self.label}: {megabytes(self.done)} fetched\n")

    def _line(self) -> str:
        if not self.total:
            return f"{self.label}: {megabytes(self.done)}"
        share = min(1.0, self.done / self.total)
        bar = "█" * round(share * BAR)
        return f"{self.label}: {bar:·<{BAR}} {share:4.0%} of {megabytes(self.total)}"

    def _write(self, text: str) -> None:
        self.stream.write(text)
        self.stream.flush()


def megabytes(n_bytes: int) -> str:
    """Return 1234567 as "1.2 MB"."""
    return f"{n_bytes / 1e6:.1f} MB"

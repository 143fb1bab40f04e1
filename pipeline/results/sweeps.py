"""Sweep folders: ``sweeps/<time>``, the journal of what one command ran.

``sweep.json`` holds the command and where it is tracked, ``jobs/<number>.json`` the state of each
job, ``jobs/<number>.traceback.txt`` the trace of one that failed before it had a run folder, and
``inferred`` what was inferred from own tables. Jobs write, the command that started them reads;
the results themselves are in run folders.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from pipeline.results.files import read_json, write_json, write_text

JobState = Literal["running", "computed", "kept", "failed"]
FINISHED: tuple[JobState, ...] = ("computed", "kept", "failed")


@dataclass(frozen=True)
class Entry:
    """What is known of one job.

    Attributes:
        number: of the job in its sweep.
        state: running, computed now, kept from an earlier run, or failed.
        labels: protocol, dataset, link, cutoff, method; as far as they could be told.
        folder: of the run.
        summary: the figures of a finished run.
        reason: of a failure, in one line.
        seconds: the job took.
        progress: share of the lanes that are done.
        tracked: the job's run in MLflow.
        untracked: why it has none, though it should.
    """

    number: int
    state: JobState
    labels: dict[str, str] = field(default_factory=dict)
    folder: str | None = None
    summary: dict[str, Any] | None = None
    reason: str | None = None
    seconds: float = 0.0
    progress: float = 0.0
    tracked: str | None = None
    untracked: str | None = None

    def but(self, **changes: Any) -> Entry:
        """Return a copy with some values changed."""
        return replace(self, **changes)


@dataclass(frozen=True)
class Journal:
    """The journal of one sweep."""

    path: Path

    @property
    def about(self) -> dict[str, Any]:
        """Return what ``sweep.json`` says of the sweep as a whole."""
        found = read_json(self.path / "sweep.json")
        return found if isinstance(found, dict) else {}

    def open(self, about: dict[str, Any]) -> None:
        """Write ``sweep.json``."""
        write_json(self.path / "sweep.json", about)

    def write(self, entry: Entry) -> None:
        """Write down the state of a job."""
        write_json(self._file(entry.number), asdict(entry))

    def trace_file(self, number: int) -> Path:
        """Return where the traceback of a job that has no folder is, if there is one."""
        return self._file(number).with_suffix(".traceback.txt")

    def write_trace(self, number: int, text: str) -> None:
        """Write down the traceback of a job that has no folder."""
        write_text(self.trace_file(number), text)

    def forget(self, number: int) -> None:
        """Have a job count as not started."""
        self._file(number).unlink(missing_ok=True)

    def read(self, number: int) -> Entry | None:
        """Return the state of a job, None if it has not started."""
        found = read_json(self._file(number))
        return Entry(**found) if isinstance(found, dict) else None

    def entries(self) -> Iterator[Entry]:
        """Yield the jobs that have started, by number."""
        for number in self.numbers():
            entry = self.read(number)
            if entry is not None:
                yield entry

    def numbers(self) -> list[int]:
        """Return the numbers of the jobs that have started."""
        return sorted(int(file.stem) for file in (self.path / "jobs").glob("[0-9]*.json"))

    def _file(self, number: int) -> Path:
        return self.path / "jobs" / f"{number:05}.json"


def find_sweeps(outputs: Path) -> Iterator[Journal]:
    """Yield the sweeps, the oldest first."""
    for file in sorted((outputs / "sweeps").glob("*/sweep.json")):
        yield Journal(file.parent)

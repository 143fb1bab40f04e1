"""Sweep folders: ``sweeps/<time>``, the journal of what one command ran.

``sweep.json`` holds the command and where it is tracked, ``jobs/<number>.json`` the run of each
cell, ``jobs/<number>.traceback.txt`` the trace of one that failed before it had a run folder, and
``inferred`` what was inferred from own tables. Workers write, the command that started them reads;
the results themselves are in run folders.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from pipeline.files import read_json, write_json, write_text
from pipeline.results.outcome import SUMMARY
from pipeline.results.runs import RunFolder

State = Literal["running", "computed", "kept", "failed", "missing", "stale"]
DONE: tuple[State, ...] = ("computed", "kept")
FINISHED: tuple[State, ...] = (*DONE, "failed")


@dataclass(frozen=True)
class Run:
    """What became of one cell: a line of a journal, a row of a table, a mark in a grid.

    Attributes:
        number: of the cell in its sweep.
        state: running; computed now, kept from before or failed; missing, where it was only looked
            for; stale, if it is there but of other code.
        labels: protocol, dataset, link, cutoff, method; as far as they could be told.
        folder: with the results, or where they would be; None where not even that can be told.
        summary: the figures of a finished run.
        reason: of a failure, in one line.
        seconds: the time its computation took, its share where cells were computed together.
        progress: share of the lanes that are done.
        tracked: the cell's run in MLflow.
        untracked: why it has none, though it should.
        trace: of a failure without a folder to keep it in; the journal has a file for it.
    """

    number: int
    state: State
    labels: dict[str, str] = field(default_factory=dict)
    folder: str | None = None
    summary: dict[str, Any] | None = None
    reason: str | None = None
    seconds: float = 0.0
    progress: float = 0.0
    tracked: str | None = None
    untracked: str | None = None
    trace: str | None = None

    def but(self, **changes: Any) -> Run:
        """Return a copy with some values changed."""
        return replace(self, **changes)

    def ended(self, state: State, folder: RunFolder | None = None, **more: Any) -> Run:
        """Return the run with how it ended, and its figures if it has any."""
        place = None if folder is None else str(folder.path)
        summary = read_json(folder.path / SUMMARY) if folder and state in DONE else None
        return self.but(state=state, folder=place, summary=summary, progress=1.0, **more)

    @property
    def is_done(self) -> bool:
        """Tell whether there are results."""
        return self.state in DONE

    @property
    def is_over(self) -> bool:
        """Tell whether it has ended, be it by a failure."""
        return self.state in FINISHED

    def results(self) -> RunFolder:
        """Return the run folder of a cell that has one."""
        assert self.folder is not None
        return RunFolder(Path(self.folder))


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

    def write(self, run: Run) -> None:
        """Write down what became of a cell."""
        line = asdict(run)
        trace = line.pop("trace")
        if trace is not None:
            with suppress(OSError):  # a full disk may be the very reason, which is told anyway
                write_text(self.trace_file(run.number), trace)
        write_json(self._file(run.number), line)

    def trace_file(self, number: int) -> Path:
        """Return where the traceback of a cell that has no folder is, if there is one."""
        return self._file(number).with_suffix(".traceback.txt")

    def forget(self, number: int) -> None:
        """Have a cell count as not started."""
        self._file(number).unlink(missing_ok=True)

    def read(self, number: int) -> Run | None:
        """Return the state of a cell, None if it has not started."""
        found = read_json(self._file(number))
        return Run(**found) if isinstance(found, dict) else None

    def runs(self) -> Iterator[Run]:
        """Yield the runs of the cells that have started, by number."""
        yield from filter(None, map(self.read, self.numbers()))

    def numbers(self) -> list[int]:
        """Return the numbers of the cells that have started."""
        return sorted(int(file.stem) for file in (self.path / "jobs").glob("[0-9]*.json"))

    def _file(self, number: int) -> Path:
        return self.path / "jobs" / f"{number:05}.json"


def find_sweeps(outputs: Path) -> Iterator[Journal]:
    """Yield the sweeps, the oldest first."""
    for file in sorted((outputs / "sweeps").glob("*/sweep.json")):
        yield Journal(file.parent)


def by_setting(runs: Iterable[Run]) -> dict[tuple[str, str, str], list[Run]]:
    """Return runs by protocol, dataset and link, in their order."""
    found: dict[tuple[str, str, str], list[Run]] = {}
    for run in runs:
        labels = run.labels
        key = (labels["protocol"], labels["dataset"], labels["link"])
        found.setdefault(key, []).append(run)
    return found

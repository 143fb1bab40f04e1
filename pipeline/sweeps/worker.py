"""What a worker does with a part: compute its cells, and write down what became of each."""

from __future__ import annotations

import os
import sys
import time
import traceback
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from pipeline.jobs.cell import Cell
from pipeline.jobs.explain import explain
from pipeline.jobs.inferred import write_notes
from pipeline.jobs.lines import job_text
from pipeline.jobs.orphan import end_with_parent
from pipeline.jobs.runner import Run, run_cells
from pipeline.results.files import read_json
from pipeline.results.outcome import SUMMARY
from pipeline.results.sweeps import Entry, Journal
from pipeline.sweeps.part import Part, read_part

SECONDS_BETWEEN_REPORTS = 0.5


def work(file: Path) -> None:
    """Compute the part in a file; failures are written down, not raised."""
    part = read_part(file)
    end_with_parent(part.parent)
    os.chdir(part.cwd)
    journal = Journal(part.journal)
    for number, parcel in part.parcels.items():  # before a method's own file can do any harm
        _write(journal, Entry(number, "running", parcel.labels))
    cells = _unpacked(part, journal)
    entries = [Entry(number, "running", cell.labels) for number, cell in cells.items()]
    runs = run_cells(
        list(cells.values()),
        part.places,
        force=part.force,
        threads=part.threads,
        progress=_reporter(journal, entries),
    )
    for entry, run in zip(entries, runs, strict=True):
        _write(journal, finished(entry, run))
        if run.trace is not None:
            with suppress(OSError):  # a full disk may be the very reason, which is told anyway
                journal.write_trace(entry.number, run.trace)
    for run in runs:
        if run.folder is not None:  # else its data could not be loaded
            write_notes(journal, run.cell, part.places.data)


def finished(entry: Entry, run: Run) -> Entry:
    """Return a cell's entry with what became of it."""
    entry = entry.but(state=run.state, reason=run.reason, seconds=run.seconds, progress=1.0)
    if run.folder is None:
        return entry
    summary = None if run.state == "failed" else read_json(run.folder.path / SUMMARY)
    return entry.but(folder=str(run.folder.path), summary=summary)


def failed(journal: Journal, number: int, labels: dict[str, str], error: Exception) -> None:
    """Write down that a cell failed before it had a run folder."""
    with suppress(OSError):
        journal.write_trace(number, "".join(traceback.format_exception(error)))
    _write(journal, Entry(number, "failed", labels, reason=explain(error), progress=1.0))


def _unpacked(part: Part, journal: Journal) -> dict[int, Cell]:
    cells = {}
    for number, parcel in part.parcels.items():
        try:
            cells[number] = parcel.unpack()
        except Exception as error:  # such as a method's file that cannot be imported here
            failed(journal, number, parcel.labels, error)
    return cells


def _reporter(journal: Journal, entries: Iterable[Entry]) -> Callable[[int, int], None]:
    """Return a function that writes progress into the journal, not too often."""
    last = time.perf_counter()

    def report(done: int, total: int) -> None:
        nonlocal last
        now = time.perf_counter()
        if now - last >= SECONDS_BETWEEN_REPORTS:
            last = now
            for entry in entries:
                _write(journal, entry.but(progress=done / total))

    return report


def _write(journal: Journal, entry: Entry) -> None:
    try:
        journal.write(entry)
    except OSError as error:  # a full disk: the parent will not read of it
        if entry.state != "running":
            lost = entry.but(state="failed", reason=explain(error))
            print(job_text(lost), file=sys.stderr)

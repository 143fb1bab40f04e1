"""What a worker does with a part: compute its cells, and write down what became of each."""

from __future__ import annotations

import os
import sys
import time
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path

from pipeline.cells.cell import Cell
from pipeline.cells.errors import explain
from pipeline.cells.runner import run_cells
from pipeline.results.journal import Journal, Run
from pipeline.summary.inferred import write_notes
from pipeline.sweeps.orphan import end_with_parent
from pipeline.sweeps.part import Part, read_part
from pipeline.view.names import run_text

SECONDS_BETWEEN_REPORTS = 0.5


def work(file: Path) -> None:
    """Compute the part in a file; failures are written down, not raised."""
    part = read_part(file)
    end_with_parent(part.parent)
    os.chdir(part.cwd)
    journal = Journal(part.journal)
    begun = [Run(number, "running", parcel.labels) for number, parcel in part.parcels.items()]
    for run in begun:  # before a method's own file can do any harm
        _write(journal, run)
    cells = _unpacked(part, journal)
    progress = _reporter(journal, [run for run in begun if run.number in cells])
    runs = run_cells(cells, part.places, force=part.force, threads=part.threads, progress=progress)
    for run in runs:
        _write(journal, run)
    for run in runs:
        if run.folder is not None:  # else its data could not be loaded
            write_notes(journal, cells[run.number], part.places.data)


def failed(journal: Journal, run: Run, error: Exception) -> None:
    """Write down that a cell failed before it had a run folder."""
    trace = "".join(traceback.format_exception(error))
    _write(journal, run.ended("failed", reason=explain(error), trace=trace))


def _unpacked(part: Part, journal: Journal) -> dict[int, Cell]:
    cells = {}
    for number, parcel in part.parcels.items():
        try:
            cells[number] = parcel.unpack()
        except Exception as error:  # such as a method's file that cannot be imported here
            failed(journal, Run(number, "running", parcel.labels), error)
    return cells


def _reporter(journal: Journal, runs: Iterable[Run]) -> Callable[[int, int], None]:
    """Return a function that writes progress into the journal, not too often."""
    last = time.perf_counter()

    def report(done: int, total: int) -> None:
        nonlocal last
        now = time.perf_counter()
        if now - last >= SECONDS_BETWEEN_REPORTS:
            last = now
            for run in runs:
                _write(journal, run.but(progress=done / total))

    return report


def _write(journal: Journal, run: Run) -> None:
    try:
        journal.write(run)
    except OSError as error:  # a full disk: the parent will not read of it
        if run.state != "running":
            lost = run.but(state="failed", reason=explain(error))
            print(run_text(lost), file=sys.stderr)

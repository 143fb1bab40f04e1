"""How a sweep ends: the table, the failures, the pictures, and where everything was saved."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from pipeline.results.average import AverageLoss, curve_of
from pipeline.results.frame import write_summary
from pipeline.results.journal import Journal, Run
from pipeline.results.runs import TRACEBACK
from pipeline.summary.inferred import note_lines
from pipeline.summary.layout import Label, Sheet, column_text, lay_out, row_text, with_variants
from pipeline.summary.tables import print_groups, print_losses
from pipeline.terminal import printable
from pipeline.view.names import run_text

MOST_PANELS = 16  # of a picture


def report(journal: Journal, runs: Sequence[Run], total: int, stopped: bool) -> int:
    """Print the end of a sweep; return how many cells failed or never finished."""
    overrides = journal.about.get("overrides", [])
    done = [run for run in runs if run.is_done]
    sheets = lay_out(done, overrides)
    runs = with_variants(runs, overrides)
    failed = [run for run in runs if run.state == "failed"]
    lost = total - len(done) - len(failed)
    for sheet in sheets:
        print()
        print_losses(sheet)
        print_groups(sheet)
    for line in _failures(journal, failed):
        print(line)
    if lost and (done or failed or stopped):
        print(
            f"{lost} of {total} cells did not finish; run the same command again to complete them"
        )
    untracked = [run for run in done if run.untracked]
    if untracked:
        why = printable(str(untracked[0].untracked))
        print(f"{len(untracked)} cells are not in MLflow ({why})")
    for line in note_lines(journal):
        print(line)
    if done:
        write_summary(runs, journal.path / "summary.csv")
        for line in _places(journal, done, _draw(journal, sheets)):
            print(line)
    return len(failed) + lost


def _failures(journal: Journal, failed: Sequence[Run]) -> Iterator[str]:
    if not failed:
        return
    yield ""
    yield f"{len(failed)} failed:"
    for run in failed:
        yield f"  {run_text(run)}"
        trace = journal.trace_file(run.number)
        if run.folder or trace.exists():
            yield f"    {Path(run.folder) / TRACEBACK if run.folder else trace}"


def _draw(journal: Journal, sheets: Sequence[Sheet]) -> list[Path]:
    """Draw R_t/t of the tuned runs: a picture for each sheet, a panel a row, a line a column."""
    from pipeline.view.curves import Panel, draw

    pictures = []
    for sheet in sheets:
        protocol, dataset, link = sheet.block
        shown = sheet.rows[:MOST_PANELS]
        panels = [Panel(f"cutoff {row_text(row)}", _lines(sheet, row)) for row in shown]
        title = f"Average one-sided loss: {dataset}, {link} link"
        title += f", mean over {sheet.over}" if sheet.averaged else ""
        if len(shown) < len(sheet.rows):
            title += f" (the first {len(shown)} of {len(sheet.rows)} settings)"
        path = journal.path / f"{protocol}_{dataset}_{link}.png"
        draw(panels, path, title=title)
        pictures.append(path)
    return pictures


def _lines(sheet: Sheet, row: Label) -> dict[str, AverageLoss]:
    """Return R_t/t of the columns of a row; a method by its name has its own look."""
    found = {column: sheet.places.get((row, column)) for column in sheet.columns}
    return {
        column_text(column) if column[1] else column[0]: curve_of(runs)
        for column, runs in found.items()
        if runs
    }


def _places(journal: Journal, done: Sequence[Run], pictures: Sequence[Path]) -> Iterator[str]:
    kept = sum(run.state == "kept" for run in done)
    note = f" ({kept} of {len(done)} kept from before)" if kept else ""
    yield ""
    yield f"results:  {os.path.commonpath([run.results().path for run in done])}{note}"
    yield f"numbers:  {journal.path / 'summary.csv'}"
    if len(pictures) == 1:
        yield f"picture:  {pictures[0]}"
    else:
        yield f"pictures: {journal.path}/*.png ({len(pictures)})"

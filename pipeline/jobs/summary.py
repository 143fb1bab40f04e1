"""How a sweep ends: the table, the failures, the pictures, and where everything was saved."""

from __future__ import annotations

import csv
import io
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from pipeline.jobs.inferred import note_lines
from pipeline.jobs.layout import Label, Sheet, column_text, lay_out, row_text
from pipeline.jobs.lines import job_text
from pipeline.jobs.seeds import curve_of
from pipeline.jobs.tables import group_tables, loss_table
from pipeline.jobs.variants import with_variants
from pipeline.results.average import AverageLoss
from pipeline.results.files import write_text
from pipeline.results.outcome import FIGURES
from pipeline.results.runs import TRACEBACK
from pipeline.results.sweeps import Entry, Journal
from pipeline.terminal import printable

FORMULA = "=+-@"
MOST_PANELS = 16  # of a picture


def report(journal: Journal, entries: Sequence[Entry], total: int, stopped: bool) -> int:
    """Print the end of a sweep; return how many jobs failed or never finished."""
    overrides = journal.about.get("overrides", [])
    done = [entry for entry in entries if entry.state in ("computed", "kept")]
    sheets = lay_out(done, overrides)
    entries = with_variants(entries, overrides)
    failed = [entry for entry in entries if entry.state == "failed"]
    lost = total - len(done) - len(failed)
    for line in (*_tables(sheets, bold=sys.stdout.isatty()), *_failures(journal, failed)):
        print(line)
    if lost and (done or failed or stopped):
        print(f"{lost} of {total} jobs did not finish; run the same command again to complete them")
    untracked = [entry for entry in done if entry.untracked]
    if untracked:
        print(f"{len(untracked)} jobs are not in MLflow ({untracked[0].untracked})")
    for line in note_lines(journal):
        print(line)
    if done:
        write_text(journal.path / "summary.csv", _csv(entries))
        for line in _places(journal, done, _draw(journal, sheets)):
            print(line)
    return len(failed) + lost


def _tables(sheets: Sequence[Sheet], bold: bool) -> Iterator[str]:
    for sheet in sheets:
        yield ""
        yield from loss_table(sheet, bold)
        yield from group_tables(sheet)


def _failures(journal: Journal, failed: Sequence[Entry]) -> Iterator[str]:
    if not failed:
        return
    yield ""
    yield f"{len(failed)} failed:"
    for entry in failed:
        yield f"  {job_text(entry)}"
        trace = journal.trace_file(entry.number)
        if entry.folder or trace.exists():
            yield f"    {Path(entry.folder) / TRACEBACK if entry.folder else trace}"


def _csv(entries: Sequence[Entry]) -> str:
    """Return one line for each job."""
    text = io.StringIO()
    labels = ("protocol", "dataset", "link", "cutoff", "method")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*labels, *FIGURES, "state", "reason", "folder"])
    for entry in entries:
        found = entry.summary or {}
        figures = [found.get(name) for name in FIGURES]
        named = [entry.labels.get(label) for label in labels]
        words = [_no_formula(word) for word in (*named, entry.state, entry.reason, entry.folder)]
        writer.writerow([*words[: len(named)], *figures, *words[len(named) :]])
    return text.getvalue()


def _no_formula(word: str | None) -> str | None:
    """Return a word that a spreadsheet takes for one: it would run what starts like a formula."""
    if not word:
        return word
    return f"'{printable(word)}" if word[0] in FORMULA else printable(word)


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
        column_text(column) if column[1] else column[0]: curve_of(jobs)
        for column, jobs in found.items()
        if jobs
    }


def _places(journal: Journal, done: Sequence[Entry], pictures: Sequence[Path]) -> Iterator[str]:
    kept = sum(entry.state == "kept" for entry in done)
    note = f" ({kept} of {len(done)} kept from before)" if kept else ""
    folders = [Path(str(entry.folder)) for entry in done]
    yield ""
    yield f"results:  {_common(folders)}{note}"
    yield f"numbers:  {journal.path / 'summary.csv'}"
    if len(pictures) == 1:
        yield f"picture:  {pictures[0]}"
    else:
        yield f"pictures: {journal.path}/*.png ({len(pictures)})"


def _common(folders: Sequence[Path]) -> Path:
    """Return the deepest folder that holds all of them."""
    return Path(os.path.commonpath(folders))

"""What was inferred from own tables: a run writes it down, the end of the sweep shows it."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from pipeline.cells.cell import Cell
from pipeline.cells.problem import dataset_of
from pipeline.data.errors import DataError
from pipeline.data.own_table import OWN_TABLES
from pipeline.data.sources import Settings
from pipeline.files import write_text
from pipeline.results.journal import Journal
from pipeline.terminal import printable, short

FOLDER = "inferred"
COMMAND = "# python -m pipeline.data describe "
OPTIONS = ("target", "positive", "group", "separator")  # of that command
MOST_LINES, MOST_TABLES, LONGEST = 8, 3, 120


def write_notes(journal: Journal, cell: Cell, data: Settings) -> None:
    """Write the notes of a run's own table into the sweep's folder, once for all its runs.

    The dataset is still in memory from the run. Read in two ways, such as with two groups, a table
    has two files.
    """
    if cell.dataset["name"] not in OWN_TABLES:
        return
    with suppress(DataError, OSError):  # removed meanwhile, or a full disk: the run is done
        lines = [*_command(cell.dataset), *dataset_of(cell, data).notes]
        text = "\n".join(lines) + "\n"
        name = f"{cell.dataset_label}_{hashlib.sha256(text.encode()).hexdigest()[:6]}.txt"
        file = journal.path / FOLDER / name
        if not file.exists():
            write_text(file, text)


def note_lines(journal: Journal) -> Iterator[str]:
    """Yield what was inferred from each table, a few lines each, no line twice."""
    files = sorted((journal.path / FOLDER).glob("*.txt"))
    shown: dict[str, set[str]] = {}
    for file in files[:MOST_TABLES]:
        lines = file.read_text(encoding="utf-8").splitlines()
        command = [line.removeprefix("# ") for line in lines if line.startswith(COMMAND)]
        name = file.stem.rpartition("_")[0]
        before = shown.get(name, set())
        words = {line: " ".join(line.split()) for line in lines if not line.startswith(COMMAND)}
        notes = [line for line in words if words[line] not in before]
        shown[name] = before | set(words.values())
        yield ""
        yield f"{name}, inferred{' where it was read in another way' if before else ''}:"
        for note in _cut(notes, command[0] if command else str(file)):
            yield f"  {printable(note)}"
    if len(files) > MOST_TABLES:
        yield f"and {len(files) - MOST_TABLES} more: {journal.path / FOLDER}"


def _command(dataset: Mapping[str, Any]) -> list[str]:
    """Return the command that tells more of a table; it knows files only."""
    if dataset["name"] != "csv":
        return []
    given = {key: dataset.get(key) for key in OPTIONS}
    words = [
        f"--{key}={value}" for key, value in given.items() if isinstance(value, str | int | float)
    ]
    return [COMMAND + shlex.join([str(dataset["path"]), *words])]


def _cut(notes: list[str], more: str) -> list[str]:
    """Return the first notes and the last, which has the number of features."""
    lines = [short(note, LONGEST) for note in notes]
    if len(lines) <= MOST_LINES:
        return lines
    kept = lines[: MOST_LINES - 2]
    return [*kept, f"… {len(lines) - len(kept) - 1} more: {more}", lines[-1]]

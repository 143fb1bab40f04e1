"""Rows of the report, and how they are printed and saved."""

from __future__ import annotations

import csv
import math
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from benchmarks.sizes import Sizes

COLUMNS = ("case", "versus", "ratio", "target", "met", "ours", "theirs", "note")
SCALES = {"s": ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")), "B": ((2.0**20, "MiB"),)}


@dataclass(frozen=True)
class Target:
    """A figure to reach: at least ``limit``, or at most."""

    limit: float
    at_most: bool = False

    def met_by(self, ratio: float) -> bool:
        """Whether a ratio reaches it; NaN (not measured) does not."""
        return ratio <= self.limit if self.at_most else ratio >= self.limit

    def __str__(self) -> str:
        return f"{'≤' if self.at_most else '≥'} {self.limit:,g}"


@dataclass(frozen=True)
class Row:
    """One comparison.

    Attributes:
        case: what was run.
        versus: what it is compared with.
        ratio: how many times faster ours is, unless the section says otherwise.
        ours: seconds or bytes of ours.
        theirs: the same of what it is compared with.
        unit: ``"s"`` or ``"B"``.
        target: the figure to reach, if there is one.
        note: what else a reader must know.
    """

    case: str
    versus: str
    ratio: float
    ours: float = math.nan
    theirs: float = math.nan
    unit: str = "s"
    target: Target | None = None
    note: str = ""

    @property
    def met(self) -> str:
        """``yes``, ``NO``, or nothing where there is no target."""
        if self.target is None:
            return ""
        return "yes" if self.target.met_by(self.ratio) else "NO"

    def cells(self) -> dict[str, str]:
        """Return the row as a reader wants it."""
        return {
            "case": self.case,
            "versus": self.versus,
            "ratio": _number(self.ratio),
            "target": str(self.target or ""),
            "met": self.met,
            "ours": quantity(self.ours, self.unit),
            "theirs": quantity(self.theirs, self.unit),
            "note": self.note,
        }


@dataclass(frozen=True)
class Section:
    """A question: its title, what a reader must know of it, and what measures it."""

    title: str
    about: str
    measure: Callable[[Sizes], Iterator[Row]]


@dataclass(frozen=True)
class Report:
    """All that was measured in one run."""

    about: str
    machine: Sequence[str]
    rows: Mapping[Section, Sequence[Row]]


def faster(
    case: str,
    versus: str,
    ours: float,
    theirs: float,
    target: Target | None = None,
    note: str = "",
) -> Row:
    """Return the row that says how many times faster ours is."""
    return Row(case, versus, theirs / ours, ours, theirs, target=target, note=note)


def _number(value: float) -> str:
    if not math.isfinite(value):
        return "–"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def quantity(value: float, unit: str) -> str:
    """Return seconds or bytes in the scale that suits them."""
    if not math.isfinite(value):
        return "–"
    scales = SCALES[unit]
    scale, name = next((s for s in scales if abs(value) >= s[0]), scales[-1])
    return f"{_number(value / scale)} {name}"


def print_row(row: Row) -> None:
    """Print one row as soon as it is there."""
    cells = row.cells()
    verdict = f" [{cells['target']}: {row.met}]" if row.target else ""
    print(f"  {row.case} | {row.versus}: {cells['ratio']}{verdict} {row.note}", flush=True)


def as_markdown(report: Report) -> str:
    """Return machine, targets missed, then one table a section."""
    judged = [row for rows in report.rows.values() for row in rows if row.target]
    missed = [row for row in judged if row.met == "NO"]
    parts = ["# Benchmarks", report.about, "\n".join(f"- {line}" for line in report.machine)]
    parts.append(f"Targets met: {len(judged) - len(missed)} of {len(judged)}.")
    if missed:
        lines = (f"- {r.case}, {r.versus}: {_number(r.ratio)} (target {r.target})" for r in missed)
        parts.append("Missed:\n\n" + "\n".join(lines))
    for section, rows in report.rows.items():
        parts += [f"## {section.title}", section.about, _table(row.cells() for row in rows)]
    return "\n\n".join(parts) + "\n"


def _table(rows: Iterable[dict[str, str]]) -> str:
    lines = [COLUMNS, tuple("---" for _ in COLUMNS)]
    lines += [tuple(row[name].replace("|", "\\|") for name in COLUMNS) for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def as_csv(report: Report) -> str:
    """Return the rows with full figures, in seconds and bytes."""
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["section", *COLUMNS[:-1], "unit", "note"])
    for section, rows in report.rows.items():
        for row in rows:
            verdict = (row.ratio, str(row.target or ""), row.met)
            figures = (row.ours, row.theirs, row.unit, row.note)
            writer.writerow([section.title, row.case, row.versus, *verdict, *figures])
    return out.getvalue()


def save(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            out.write(text)
        os.chmod(name, 0o644)  # noqa: PTH101 - mkstemp makes it private
        os.replace(name, path)  # noqa: PTH105 - the name is a string
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise

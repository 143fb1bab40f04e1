"""What is known of the paper's figures beside the figures: misprints, puzzles, cautions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast, get_args

from pipeline.paper.published import PublishedError, published, read_reference
from pipeline.paper.statistics.compare import Comparison

FILE = Path(__file__).parent / "reference" / "findings.csv"
COLUMNS = ("kind", "links", "datasets", "cutoffs", "finding")
Kind = Literal["unexplained", "caution", "misprint"]


@dataclass(frozen=True)
class Finding:
    """One thing that is known.

    Attributes:
        kind: unexplained, a caution to the reader, or a misprint outside the tables.
        links: it is about; none named means all.
        datasets: likewise.
        cutoffs: likewise.
        finding: in one or two sentences.
    """

    kind: Kind
    links: tuple[str, ...]
    datasets: tuple[str, ...]
    cutoffs: tuple[str, ...]
    finding: str

    @property
    def is_local(self) -> bool:
        """Tell whether it is about certain datasets or cutoffs."""
        return bool(self.datasets or self.cutoffs)

    def part(self, comparison: Comparison) -> Comparison:
        """Return the cells and rows it is about."""
        cells, rows = comparison.cells, comparison.rows
        for name in ("link", "dataset", "cutoff"):
            wanted = getattr(self, f"{name}s")
            if wanted:
                cells, rows = cells[cells[name].isin(wanted)], rows[rows[name].isin(wanted)]
        return Comparison(cells, rows)


def findings(file: Path = FILE) -> list[Finding]:
    """Return the findings in the order of the file."""
    return [_finding(number, line, file) for number, line in read_reference(file, COLUMNS)]


def _finding(number: int, line: dict[str, str], file: Path) -> Finding:
    where = f"{file}, line {number}"
    if line["kind"] not in get_args(Kind) or not line["finding"]:
        raise PublishedError(f"{where}: expected a finding of kind {', '.join(get_args(Kind))}")
    rows = published()
    return Finding(
        cast(Kind, line["kind"]),
        _known(line["links"], (row.link for row in rows), where),
        _known(line["datasets"], (row.dataset for row in rows), where),
        _known(line["cutoffs"], (row.cutoff for row in rows), where),
        line["finding"],
    )


def _known(text: str | None, names: Iterable[str], where: str) -> tuple[str, ...]:
    wanted = tuple((text or "").split())
    unknown = sorted(set(wanted) - set(names))
    if unknown:
        raise PublishedError(f"{where}: {unknown[0]!r} is in none of the published rows")
    return wanted

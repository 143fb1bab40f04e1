"""The paper's six tables from collected results: its rows and columns, in its order.

The least figure of a row is bold. Whether figures tie is judged as they are printed, with two
digits as in the paper: a reader could not see why one of two equal figures is bold. Figures that
tie exactly tie as printed too. A row with a gap has no bold figure, as its least is not known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pipeline.paper.collection import Collection
from pipeline.paper.published import DIGITS, LINKS, METHODS, PublishedRow, published

DATASETS_A_TABLE = 5  # of the appendix
Cells = dict[tuple[str, ...], dict[str, Any]]  # by link, dataset, cutoff and method


@dataclass(frozen=True)
class Figure:
    """One figure of a table.

    Attributes:
        state: done, failed or missing.
        loss: mean over splits.
        error: standard error over splits; NaN where there is one split only.
        bold: whether it is the row's least.
    """

    state: str = "missing"
    loss: float = np.nan
    error: float = np.nan
    bold: bool = False

    @property
    def printed(self) -> str:
        """Return the mean as it is printed, or the state where there is none."""
        return f"{self.loss:.{DIGITS}f}" if self.state == "done" else self.state


@dataclass(frozen=True)
class Row:
    """One row: a dataset and cutoff, a figure for each method."""

    link: str
    dataset: str
    cutoff: str
    figures: Mapping[str, Figure]


@dataclass(frozen=True)
class Table:
    """One table of the paper.

    Attributes:
        name: of its files.
        caption: what it shows.
        rows: in the paper's order.
    """

    name: str
    caption: str
    rows: Sequence[Row]


def layout() -> dict[str, list[PublishedRow]]:
    """Return the rows of each table: two in the text, two for each link in the appendix."""
    rows = published()
    found = {
        f"table{number}": [row for row in rows if row.in_text and row.link == link]
        for number, link in enumerate(LINKS, start=1)
    }
    for link in LINKS:
        datasets = list(dict.fromkeys(row.dataset for row in rows if row.link == link))
        for part, start in enumerate(range(0, len(datasets), DATASETS_A_TABLE), start=1):
            chosen = datasets[start : start + DATASETS_A_TABLE]
            found[f"appendix_{link}_{part}"] = [
                row for row in rows if row.link == link and row.dataset in chosen
            ]
    return found


def make_tables(collection: Collection, names: Iterable[str] = ()) -> list[Table]:
    """Return some of the six tables, or all; the collection must be of one protocol."""
    cells: Cells = {
        (row["link"], row["dataset"], row["cutoff"], row["method"]): row
        for row in collection.cells.to_dict("records")
    }
    chosen = list(names) or list(layout())
    over = _splits_text(collection)
    return [
        Table(name, _caption(name, rows[0].link, over), [_row(row, cells) for row in rows])
        for name, rows in layout().items()
        if name in chosen
    ]


def gaps(tables: Iterable[Table], protocol: str) -> list[dict[str, str]]:
    """Return the labels of the cells that tables lack, each once."""
    found = {
        (row.dataset, row.link, row.cutoff, method): None
        for table in tables
        for row in table.rows
        for method, figure in row.figures.items()
        if figure.state != "done"
    }
    names = ("dataset", "link", "cutoff", "method")
    return [{"protocol": protocol, **dict(zip(names, gap, strict=True))} for gap in found]


def _row(row: PublishedRow, cells: Cells) -> Row:
    figures = {method: _figure(cells.get((*row.key, method))) for method in METHODS}
    if all(figure.state == "done" for figure in figures.values()):
        least = min(round(figure.loss, DIGITS) for figure in figures.values())
        figures = {
            method: replace(figure, bold=round(figure.loss, DIGITS) == least)
            for method, figure in figures.items()
        }
    return Row(row.link, row.dataset, row.cutoff, figures)


def _figure(cell: dict[str, Any] | None) -> Figure:
    if cell is None:
        return Figure()
    return Figure(str(cell["state"]), float(cell["loss"]), float(cell["standard_error"]))


def _caption(name: str, link: str, over: str) -> str:
    part = " (continued)" if name.endswith("_2") else ""
    return (
        f"{LINKS[link]} regression{part}: cumulative one-sided loss under the tuned alpha, "
        f"mean ± standard error over {over}. The least of a row is bold."
    )


def _splits_text(collection: Collection) -> str:
    counts = collection.cells["n_splits"].dropna().unique()
    return f"{counts[0]} splits" if len(counts) == 1 else "splits"

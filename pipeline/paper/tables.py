"""The paper's six tables from collected results: its rows and columns, in its order.

The least figure of a row is bold. Whether figures tie is judged as they are printed, with two
digits as in the paper: a reader could not see why one of two equal figures is bold. Figures that
tie exactly tie as printed too. A row with a gap has no bold figure, as its least is not known.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from pipeline.paper.collection import Collection
from pipeline.paper.formats import write_table, write_tex_document
from pipeline.paper.gaps import fill_commands
from pipeline.paper.published import METHODS, PublishedRow, published
from pipeline.paper.table import DIGITS, Figure, Row, Table
from pipeline.view.names import row_name

DATASETS_A_TABLE = 5  # of the appendix
LINKS = {"linear": "Linear", "logistic": "Logistic"}
Cells = dict[tuple[str, ...], dict[str, Any]]  # by link, dataset, cutoff and method


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


def write_tables(collection: Collection, folder: Path, names: Iterable[str] = ()) -> list[str]:
    """Write tables as LaTeX, Markdown and CSV; return the commands that fill their gaps."""
    tables = make_tables(collection, names)
    (protocol,) = collection.protocols
    for table in tables:
        write_table(table, folder, fill_commands(gaps([table], protocol)))
    write_tex_document([table.name for table in tables], folder / "tables.tex")
    return fill_commands(gaps(tables, protocol))


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``python -m pipeline.paper tables``."""
    parser.add_argument("--only", nargs="+", default=(), choices=list(layout()), metavar="TABLE")


def command(collection: Collection, options: argparse.Namespace) -> Iterable[str]:
    """Write the paper's tables from collected results."""
    commands = write_tables(collection, options.out, options.only)
    yield f"tables:   {options.out}"
    failed = collection.cells[collection.cells["state"] == "failed"]
    for cell in failed.to_dict("records"):
        name = row_name(cell["link"], cell["dataset"], cell["cutoff"])
        yield f"failed:   {name}, {cell['method']}: {cell['reason']}"
    if commands:
        yield "cells are missing; to fill them:"
        yield from (f"  {line}" for line in commands)


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

"""The paper's six tables from collected results, as LaTeX, Markdown and CSV.

Rows and columns are the paper's, in its order. The least figure of a row is bold. Whether figures
tie is judged as they are printed, with two digits as in the paper: a reader could not see why one
of two equal figures is bold. Figures that tie exactly tie as printed too. A row with a gap has no
bold figure, as its least is not known.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.paper.collection import Collection
from pipeline.paper.fill_commands import fill_commands
from pipeline.paper.published import DIGITS, LINKS, METHODS, PublishedRow, published
from pipeline.results.files import write_text
from pipeline.view.names import cutoff_name, dataset_name, method_name
from pipeline.view.page import Block, Commands, Text, TextTable, markdown

DATASETS_A_TABLE = 5  # of the appendix
Cells = dict[tuple[str, ...], dict[str, Any]]  # by link, dataset, cutoff and method
TEX = {
    "\\": r"\textbackslash{}", "%": r"\%", "&": r"\&", "_": r"\_", "#": r"\#", "$": r"\$",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "ε": r"$\epsilon$", "±": r"$\pm$",
}  # fmt: skip
PREAMBLE = r"""\documentclass{article}
\usepackage{booktabs}
\usepackage[a4paper, margin=15mm]{geometry}
\begin{document}
"""


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


def write_tables(collection: Collection, folder: Path, names: Iterable[str] = ()) -> list[str]:
    """Write tables as LaTeX, Markdown and CSV; return the commands that fill their gaps."""
    tables = make_tables(collection, names)
    (protocol,) = collection.protocols
    for table in tables:
        commands = fill_commands(gaps([table], protocol))
        write_text(folder / f"{table.name}.tex", to_latex(table, commands))
        write_text(folder / f"{table.name}.md", to_markdown(table, commands))
        write_text(folder / f"{table.name}.csv", to_csv(table))
    inputs = "".join(f"\\input{{{table.name}}}\n" for table in tables)
    write_text(folder / "tables.tex", f"{PREAMBLE}{inputs}\\end{{document}}\n")
    return fill_commands(gaps(tables, protocol))


def to_latex(table: Table, commands: Sequence[str] = ()) -> str:
    """Return a ``table`` environment for the package booktabs."""
    heads = ["Dataset", "cutoff", *map(method_name, METHODS)]
    lines = [
        *(f"% missing: {command}" for command in commands),
        r"\begin{table}[p]",
        r"\centering\scriptsize\setlength{\tabcolsep}{3pt}",
        rf"\caption{{{escaped(table.caption)}}}",
        rf"\label{{tab:{table.name}}}",
        rf"\begin{{tabular}}{{ll{'r' * len(METHODS)}}}",
        r"\toprule",
        _tex_line(map(escaped, heads)),
        *_tex_body(table.rows),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def to_markdown(table: Table, commands: Sequence[str] = ()) -> str:
    """Return the table with its caption, and the commands that fill its gaps."""
    labels = ["Dataset", "cutoff"]
    rows = [
        [dataset_name(row.dataset), cutoff_name(row.cutoff)]
        + [_markdown(row.figures[method]) for method in METHODS]
        for row in table.rows
    ]
    shown = TextTable([*labels, *map(method_name, METHODS)], rows, words=labels)
    fill: list[Block] = [Text("To fill the gaps:"), Commands(commands)] if commands else []
    return markdown([Text(table.caption), shown, *fill])


def to_csv(table: Table) -> str:
    """Return a line a row: means in the paper's order, bold methods, standard errors.

    Figures have four digits, which is more than their noise and less than what differs between
    processors.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    errors = [f"{method}_standard_error" for method in METHODS]
    writer.writerow(["link", "dataset", "cutoff", *METHODS, "bold", *errors])
    for row in table.rows:
        figures = [row.figures[method] for method in METHODS]
        means = [_plain(figure, figure.loss) for figure in figures]
        bold = " ".join(method for method in METHODS if row.figures[method].bold)
        spreads = [_plain(figure, figure.error) for figure in figures]
        writer.writerow([row.link, row.dataset, row.cutoff, *means, bold, *spreads])
    return text.getvalue()


def escaped(text: str) -> str:
    """Return text as LaTeX has to have it."""
    return "".join(TEX.get(letter, letter) for letter in text)


def _tex_body(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the rows, each dataset under a rule and named once."""
    for dataset, block in groupby(rows, key=lambda row: row.dataset):
        yield r"\midrule"
        for number, row in enumerate(block):
            name = escaped(dataset_name(dataset)) if number == 0 else ""
            figures = [_tex(row.figures[method]) for method in METHODS]
            yield _tex_line([name, escaped(cutoff_name(row.cutoff)), *figures])


def _tex_line(cells: Sequence[str] | Iterator[str]) -> str:
    return rf"{' & '.join(cells)} \\"


def _tex(figure: Figure) -> str:
    return _marked(figure, r"\textbf{{{}}}", r"\emph{{{}}}", escaped)


def _markdown(figure: Figure) -> str:
    return _marked(figure, "**{}**", "*{}*", str)


def _marked(figure: Figure, bold: str, italic: str, escape: Callable[[str], str]) -> str:
    """Return a figure with its error, bold where it is the least; its state where there is none."""
    if figure.state != "done":
        return italic.format(escape(figure.state))
    return (bold if figure.bold else "{}").format(figure.printed) + escape(error_text(figure))


def error_text(figure: Figure) -> str:
    """Return the standard error as it stands behind a mean; nothing where there is none."""
    return "" if np.isnan(figure.error) else f" ± {figure.error:.{DIGITS}f}"


def _plain(figure: Figure, value: float) -> str:
    if figure.state != "done":
        return figure.state
    return "unknown" if np.isnan(value) else f"{value:.4f}"

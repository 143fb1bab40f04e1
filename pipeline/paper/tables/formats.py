"""A table as LaTeX, Markdown and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

import numpy as np

from pipeline.files import write_text
from pipeline.paper.collection import Collection
from pipeline.paper.fill_commands import fill_commands
from pipeline.paper.published import DIGITS, METHODS
from pipeline.paper.tables.contents import Figure, Row, Table, gaps, make_tables
from pipeline.view.names import cutoff_name, dataset_name, method_name
from pipeline.view.page import Block, Commands, Text, TextTable, markdown

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

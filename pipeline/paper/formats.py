"""A table as LaTeX, Markdown and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

import numpy as np

from pipeline.paper.published import METHODS
from pipeline.paper.table import DIGITS, Figure, Row, Table
from pipeline.results.files import write_text
from pipeline.view.names import cutoff_name, dataset_name, method_name
from pipeline.view.page import markdown_line

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


def write_table(table: Table, folder: Path, commands: Sequence[str]) -> None:
    """Write a table in three formats.

    Args:
        table: what to write.
        folder: where to.
        commands: that fill its gaps; Markdown and LaTeX name them.
    """
    write_text(folder / f"{table.name}.tex", to_latex(table, commands))
    write_text(folder / f"{table.name}.md", to_markdown(table, commands))
    write_text(folder / f"{table.name}.csv", to_csv(table))


def write_tex_document(names: Sequence[str], path: Path) -> None:
    """Write a document that holds some tables and compiles by itself."""
    inputs = "".join(f"\\input{{{name}}}\n" for name in names)
    write_text(path, f"{PREAMBLE}{inputs}\\end{{document}}\n")


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
    heads = ["Dataset", "cutoff", *map(method_name, METHODS)]
    lines = [table.caption, "", markdown_line(heads)]
    lines.append(markdown_line(["---", "---", *["---:"] * len(METHODS)]))
    for row in table.rows:
        figures = [_markdown(row.figures[method]) for method in METHODS]
        lines.append(markdown_line([dataset_name(row.dataset), cutoff_name(row.cutoff), *figures]))
    if commands:
        lines += ["", "To fill the gaps:", "", "```sh", *commands, "```"]
    return "\n".join(lines) + "\n"


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
    if figure.state != "done":
        return rf"\emph{{{escaped(figure.state)}}}"
    mean = rf"\textbf{{{figure.printed}}}" if figure.bold else figure.printed
    return mean + escaped(error_text(figure))


def _markdown(figure: Figure) -> str:
    if figure.state != "done":
        return f"*{figure.state}*"
    mean = f"**{figure.printed}**" if figure.bold else figure.printed
    return mean + error_text(figure)


def error_text(figure: Figure) -> str:
    """Return the standard error as it stands behind a mean; nothing where there is none."""
    return "" if np.isnan(figure.error) else f" ± {figure.error:.{DIGITS}f}"


def _plain(figure: Figure, value: float) -> str:
    if figure.state != "done":
        return figure.state
    return "unknown" if np.isnan(value) else f"{value:.4f}"

"""The paper's six tables from collected results, as LaTeX, Markdown and CSV.

Rows and columns are the paper's, in its order. The least figure of a row is bold. Whether figures
tie is judged as they are printed, with two digits as in the paper: a reader could not see why one
of two equal figures is bold. Figures that tie exactly tie as printed too. A row with a gap has no
bold figure, as its least is not known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from pipeline.files import write_text
from pipeline.paper.collection import Collection, fill_commands
from pipeline.paper.published import CELL_KEY, DIGITS, LINKS, METHODS, Setting, best_methods, layout
from pipeline.view.names import cutoff_name, dataset_name, method_name
from pipeline.view.page import Block, Commands, Text, TextTable, markdown

HEADS = ["Dataset", "cutoff", *map(method_name, METHODS)]
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


class Figure(NamedTuple):
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

    @property
    def printed_error(self) -> str:
        """Return the standard error as it stands behind a mean; nothing where there is none."""
        return "" if np.isnan(self.error) else f" ± {self.error:.{DIGITS}f}"

    def marked(self, bold: str, italic: str) -> str:
        """Return mean and error, the least bold; the state, in italics, where there is none."""
        if self.state != "done":
            return italic.format(self.state)
        return (bold if self.bold else "{}").format(self.printed) + self.printed_error

    def digits(self, value: float) -> str:
        """Return the mean or the error with four digits, or why there is none."""
        if self.state != "done":
            return self.state
        return "unknown" if np.isnan(value) else f"{value:.4f}"


class Table(NamedTuple):
    """One table of the paper.

    Attributes:
        name: of its files.
        caption: what it shows.
        rows: the figures of each setting by method, in the paper's order.
    """

    name: str
    caption: str
    rows: Mapping[Setting, Mapping[str, Figure]]


def make_tables(collection: Collection, names: Iterable[str] = ()) -> list[Table]:
    """Return some of the six tables, or all; the collection must be of one protocol."""
    cells = collection.cells.set_index(CELL_KEY)[["state", "loss", "standard_error"]]
    found = {cell[0]: Figure(*cell[1:]) for cell in cells.itertuples(name=None)}
    counts = collection.cells["n_splits"].dropna().unique()
    over = f"{counts[0]} splits" if len(counts) == 1 else "splits"
    chosen = list(names) or list(layout())
    return [
        Table(name, _caption(name, rows[0].link, over), {row: _row(row, found) for row in rows})
        for name, rows in layout().items()
        if name in chosen
    ]


def _caption(name: str, link: str, over: str) -> str:
    part = " (continued)" if name.endswith("_2") else ""
    return (
        f"{LINKS[link]} regression{part}: cumulative one-sided loss under the tuned alpha, "
        f"mean ± standard error over {over}. The least of a row is bold."
    )


def gaps(tables: Iterable[Table], protocol: str) -> list[dict[str, str]]:
    """Return the labels of the cells that tables lack, each once."""
    found = {
        (setting, method): {"protocol": protocol, **setting._asdict(), "method": method}
        for table in tables
        for setting, figures in table.rows.items()
        for method, figure in figures.items()
        if figure.state != "done"
    }
    return list(found.values())


def _row(setting: Setting, found: Mapping[tuple[str, ...], Figure]) -> dict[str, Figure]:
    figures = {method: found.get((*setting, method), Figure()) for method in METHODS}
    if any(figure.state != "done" for figure in figures.values()):
        return figures
    best = best_methods({method: figure.loss for method, figure in figures.items()})
    return {method: figure._replace(bold=method in best) for method, figure in figures.items()}


def write_tables(collection: Collection, folder: Path, names: Iterable[str] = ()) -> list[str]:
    """Write tables as LaTeX, Markdown and CSV; return the commands that fill their gaps."""
    tables, protocol = make_tables(collection, names), collection.protocol
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
    lines = [
        *(f"% missing: {command}" for command in commands),
        r"\begin{table}[p]",
        r"\centering\scriptsize\setlength{\tabcolsep}{3pt}",
        rf"\caption{{{escaped(table.caption)}}}",
        rf"\label{{tab:{table.name}}}",
        rf"\begin{{tabular}}{{ll{'r' * len(METHODS)}}}",
        r"\toprule",
        rf"{' & '.join(map(escaped, HEADS))} \\",
        *_tex_body(table),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def to_markdown(table: Table, commands: Sequence[str] = ()) -> str:
    """Return the table with its caption, and the commands that fill its gaps."""
    rows = [
        [dataset_name(setting.dataset), cutoff_name(setting.cutoff)]
        + [figure.marked("**{}**", "*{}*") for figure in figures.values()]
        for setting, figures in table.rows.items()
    ]
    fill: list[Block] = [Text("To fill the gaps:"), Commands(commands)] if commands else []
    return markdown([Text(table.caption), TextTable(HEADS, rows, words=HEADS[:2]), *fill])


def to_csv(table: Table) -> str:
    """Return a line a row: means in the paper's order, bold methods, standard errors.

    Figures have four digits, which is more than their noise and less than what differs between
    processors.
    """
    lines = [
        {
            **setting._asdict(),
            **{method: figure.digits(figure.loss) for method, figure in figures.items()},
            "bold": " ".join(method for method, figure in figures.items() if figure.bold),
            **{f"{m}_standard_error": figure.digits(figure.error) for m, figure in figures.items()},
        }
        for setting, figures in table.rows.items()
    ]
    return str(pd.DataFrame(lines).to_csv(index=False, lineterminator="\n"))


def escaped(text: str) -> str:
    """Return text as LaTeX has to have it."""
    return "".join(TEX.get(letter, letter) for letter in text)


def _tex_body(table: Table) -> Iterator[str]:
    """Yield the rows, each dataset under a rule and named once."""
    for dataset, block in groupby(table.rows, key=lambda setting: setting.dataset):
        yield r"\midrule"
        for number, setting in enumerate(block):
            name = escaped(dataset_name(dataset)) if number == 0 else ""
            figures = [
                figure.marked(r"\textbf{{{}}}", r"\emph{{{}}}").replace("±", TEX["±"])
                for figure in table.rows[setting].values()
            ]
            cells = [name, escaped(cutoff_name(setting.cutoff)), *figures]
            yield rf"{' & '.join(cells)} \\"

"""Tables in a terminal: columns as wide as they must be, no line wrapped, no text obeyed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from rich.console import Console
from rich.table import Table
from rich.text import Text

WIDEST = 100_000  # a terminal wraps what is wider than itself; rich would cut it


def print_table(
    rows: Sequence[Sequence[str | Text]],
    first: int,
    others: int = 0,
    justify: Literal["right", "center"] = "right",
) -> None:
    """Print rows of texts; styles are left out where they cannot be shown.

    Args:
        rows: all of the same length.
        first: letters that the first column has at least.
        others: letters that any other column has at least.
        justify: where a text stands in the other columns.
    """
    table = Table(box=None, show_header=False, padding=0, pad_edge=False)
    table.add_column(min_width=first, no_wrap=True)
    for _ in rows[0][1:]:
        table.add_column(min_width=others, justify=justify, no_wrap=True)
    for row in rows:
        table.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in row))
    Console(width=WIDEST, highlight=False).print(table)

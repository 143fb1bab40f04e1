"""The theory's tables, as files and on a page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pandas as pd

from pipeline.files import replacing
from pipeline.view.page import markdown_line


def write_tables(tables: Mapping[str, pd.DataFrame], folder: Path) -> None:
    """Write each table to ``<name>.csv``, six digits of each figure, whole or not at all."""
    for name, table in tables.items():
        with replacing(folder / f"{name}.csv") as partial:
            table.to_csv(partial, index=False, lineterminator="\n", float_format="%.6g")


def markdown_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table; all columns but the first are figures."""
    rule = markdown_line(["---", *["---:"] * (len(heads) - 1)])
    return [markdown_line(heads), rule, *map(markdown_line, rows)]

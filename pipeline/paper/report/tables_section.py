"""The cells of the six tables, each as ours, as the paper's and as z, and the tables' rows."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from itertools import product
from typing import Any

import numpy as np

from pipeline.paper.collection import Collection
from pipeline.paper.comparison.compare import KEY, Comparison
from pipeline.paper.fill_commands import fill_command, fill_commands
from pipeline.paper.published import DIGITS, METHODS, PublishedRow, published
from pipeline.paper.tables import Figure, gaps, make_tables


def tables_part(collection: Collection, names: Iterable[str] = ()) -> list[dict[str, Any]]:
    """Return title, caption, rows and the commands for the gaps of the tables."""
    (protocol,) = collection.protocols
    return [
        {
            "id": f"{protocol}_{table.name}",
            "protocol": protocol,
            "title": _title(table.name),
            "caption": table.caption,
            "rows": list(map(list, table.rows)),
            "commands": fill_commands(gaps([table], protocol)),
        }
        for table in make_tables(collection, names)
    ]


def _title(name: str) -> str:
    """Return "Table 1", or "Appendix, linear 1"."""
    spaced = name.replace("table", "table ").replace("appendix_", "appendix, ")
    return spaced.replace("_", " ").capitalize()


def cells_part(
    collection: Collection, comparison: Comparison, names: Iterable[str] = ()
) -> dict[str, dict[str, Any]]:
    """Return every published cell of some tables, or all, by its labels with slashes between.

    Each view of a cell has ``n``, the number to sort by, ``t``, the text, and ``b`` where it is
    the least of its row; a cell without results has the command that fills it.
    """
    (protocol,) = collection.protocols
    tables, labels = make_tables(collection, names), [*KEY, "method"]
    rows = {row: figures for table in tables for row, figures in table.rows.items()}
    reasons = collection.cells.set_index(labels)["reason"].to_dict()
    cells = comparison.cells.set_index(labels).to_dict("index")
    found: dict[str, dict[str, Any]] = {}
    for row, method in product(published(), METHODS):
        if row.key not in rows:
            continue
        key, figure = (*row.key, method), rows[row.key][method]
        shown = found["/".join(key)] = {
            "state": figure.state,
            "verdict": cells[key]["verdict"],
            "ours": _ours(figure),
            "paper": _paper(row, method),
            "z": _z(cells[key]["z"]),
        }
        if figure.state != "done":
            gap = dict(zip(labels, key, strict=True), protocol=protocol)
            shown |= {"command": fill_command(gap), "reason": reasons.get(key, "")}
    return found


def _ours(figure: Figure) -> dict[str, Any] | None:
    if figure.state != "done":
        return None
    error = figure.printed_error.strip()
    return {"n": figure.loss, "t": figure.printed, "e": error, "b": figure.bold}


def _paper(row: PublishedRow, method: str) -> dict[str, Any]:
    """Return the paper's figure; ``misprint`` where it is bold in print and not the least."""
    loss = row.loss[method]
    shown = {"n": loss, "t": f"{loss:.{DIGITS}f}", "b": method in row.best}
    return shown | ({"misprint": True} if row.misprinted and row.bold == method else {})


def _z(z: float) -> dict[str, Any] | None:
    """Return z with one digit; JSON knows no infinity, so it sorts as the largest number."""
    if np.isnan(z):
        return None
    if math.isinf(z):
        return {"n": math.copysign(sys.float_info.max, z), "t": "+∞" if z > 0 else "−∞"}
    return {"n": z, "t": f"{z:+.1f}".replace("-", "−")}

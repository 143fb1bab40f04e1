"""The cells of the six tables, each as ours, as the paper's and as z, and the tables' rows."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from typing import Any

import numpy as np

from pipeline.paper.collection import Collection
from pipeline.paper.comparison.compare import KEY, Comparison
from pipeline.paper.fill_commands import fill_command, fill_commands
from pipeline.paper.published import DIGITS, METHODS, PublishedRow, Setting, published
from pipeline.paper.tables import Figure, Table, error_text, gaps, make_tables

TITLES = {
    "table1": "Table 1",
    "table2": "Table 2",
    "appendix_linear_1": "Appendix, linear 1",
    "appendix_linear_2": "Appendix, linear 2",
    "appendix_logistic_1": "Appendix, logistic 1",
    "appendix_logistic_2": "Appendix, logistic 2",
}


def cell_key(link: str, dataset: str, cutoff: str, method: str) -> str:
    """Return the name of a cell in the page's data."""
    return f"{link}/{dataset}/{cutoff}/{method}"


def tables_part(collection: Collection, names: Iterable[str] = ()) -> list[dict[str, Any]]:
    """Return title, caption, rows and the commands for the gaps of the tables."""
    (protocol,) = collection.protocols
    return [
        {
            "id": f"{protocol}_{table.name}",
            "protocol": protocol,
            "title": TITLES[table.name],
            "caption": table.caption,
            "rows": [[row.link, row.dataset, row.cutoff] for row in table.rows],
            "commands": fill_commands(gaps([table], protocol)),
        }
        for table in make_tables(collection, names)
    ]


def cells_part(
    collection: Collection, comparison: Comparison, names: Iterable[str] = ()
) -> dict[str, dict[str, Any]]:
    """Return every published cell of some tables, or all, by its name.

    Each view of a cell has ``n``, the number to sort by, ``t``, the text, and ``b`` where it is
    the least of its row; a cell without results has the command that fills it.
    """
    (protocol,) = collection.protocols
    figures = _figures(make_tables(collection, names))
    rows = {row.key: row for row in published()}
    reasons = {
        cell_key(*(cell[name] for name in (*KEY, "method"))): cell["reason"]
        for cell in collection.cells[collection.cells["state"] == "failed"].to_dict("records")
    }
    found = {}
    for cell in comparison.cells.to_dict("records"):
        link, dataset, cutoff, method = (str(cell[name]) for name in (*KEY, "method"))
        key = cell_key(link, dataset, cutoff, method)
        if key not in figures:
            continue
        found[key] = {
            "state": figures[key].state,
            "verdict": cell["verdict"],
            "ours": _ours(figures[key]),
            "paper": _paper(rows[Setting(link, dataset, cutoff)], method),
            "z": _z(cell["z"]),
        }
        if figures[key].state != "done":
            command = fill_command(protocol, [dataset], link, [cutoff], [method])
            found[key] |= {"command": command, "reason": reasons.get(key, "")}
    return found


def _figures(tables: Iterable[Table]) -> dict[str, Figure]:
    return {
        cell_key(row.link, row.dataset, row.cutoff, method): row.figures[method]
        for table in tables
        for row in table.rows
        for method in METHODS
    }


def _ours(figure: Figure) -> dict[str, Any] | None:
    if figure.state != "done":
        return None
    return {
        "n": figure.loss,
        "t": figure.printed,
        "e": error_text(figure).strip(),
        "b": figure.bold,
    }


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

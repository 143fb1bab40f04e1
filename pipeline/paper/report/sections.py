"""The report below the verdict: tables, lines to draw, and where the figures come from."""

from __future__ import annotations

import math
import os
import sys
from collections import Counter
from collections.abc import Iterable
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from pipeline.files import read_json
from pipeline.paper.by_setting import Grid, grids, lines_of, relative
from pipeline.paper.collection import Collection, fill_command, fill_commands
from pipeline.paper.comparison.compare import KEY, Comparison
from pipeline.paper.published import (
    BASELINE,
    DIGITS,
    METHODS,
    PublishedRow,
    Setting,
    absent,
    published,
)
from pipeline.paper.tables import Figure, gaps, make_tables
from pipeline.results.average import AverageLoss
from pipeline.results.runs import CONFIG, ENVIRONMENT

SIGNIFICANT = 4  # digits of a point: less than a pixel
Shared = dict[tuple[float, ...], int]  # places of lists
# The pages of `make ui`. The experiment of the project is the first after MLflow's own.
MLFLOW = "http://127.0.0.1:5000/#/experiments/1/runs?workflowType=machine_learning&searchFilter="


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


def series_part(collection: Collection) -> dict[str, Any]:
    """Return the lines by setting and method, and the commands for those that are missing."""
    (protocol,) = collection.protocols
    shared: Shared = {}
    curves, losses = lines_of(collection.curves), grids(collection.losses)
    tuned = collection.cells.set_index([*Setting._fields, "method"])["alpha"].to_dict()
    settings: dict[str, Any] = {}
    for setting in sorted({*curves, *losses, *(row.key for row in published())}):
        lines = curves.get(setting, {})
        found = losses.get(setting, {})
        settings["/".join(setting)] = {
            "curves": {method: _curve(line, shared) for method, line in lines.items()},
            "alphas": {
                method: _alphas(grid, found[BASELINE], tuned[*setting, method], shared)
                for method, grid in found.items()
                if BASELINE in found and found[BASELINE].has(grid.splits) and _whole(grid).any()
            },
            "missing": _missing(protocol, setting, absent(found)),
        }
    return {"lists": list(map(list, shared)), "settings": settings}


def _place(shared: Shared, values: Iterable[float]) -> int:
    """Return where a list that many lines share is kept, once."""
    return shared.setdefault(tuple(values), len(shared))


def _curve(line: AverageLoss, shared: Shared) -> dict[str, Any]:
    return {
        "x": _place(shared, line.rounds.tolist()),
        "y": _short(line.mean),
        "e": _short(line.error),
    }


def _alphas(grid: Grid, greedy: Grid, tuned: float, shared: Shared) -> dict[str, Any]:
    """Return for each alpha the mean of R_T over splits, and that relative to greedy.

    Alphas that lack a split are left out: their mean would be one of other splits. No digit is cut
    off, so that the page rounds the loss of the tuned alpha as the tables do.
    """
    whole = _whole(grid)
    kept = Grid(grid.alphas[whole], grid.splits, grid.loss[whole])
    with np.errstate(divide="ignore", invalid="ignore"):  # alpha 0 has no logarithm to draw at
        line = relative(kept, greedy, kept.splits)
    return {
        "x": _place(shared, kept.alphas.tolist()),
        "loss": kept.loss.mean(axis=1).tolist(),
        "y": _known(line.ratio.tolist()),
        "e": _known(line.error.tolist()),
        "tuned": tuned,
    }


def _whole(grid: Grid) -> NDArray[np.bool_]:
    """Tell which alphas were run on all splits."""
    return np.asarray(np.isfinite(grid.loss).all(axis=1))


def _missing(protocol: str, setting: Setting, methods: list[str]) -> list[str]:
    """Return the methods that have no line and the command that runs them."""
    if not methods:
        return []
    labels = {"protocol": protocol, **setting._asdict(), "method": ",".join(methods)}
    return [*methods, fill_command(labels)]


def _short(values: Iterable[float]) -> list[float | None]:
    """Return numbers with few digits."""
    return _known(float(f"{value:.{SIGNIFICANT}g}") for value in values)


def _known(values: Iterable[float]) -> list[float | None]:
    """Return numbers, None where there is none: JSON has neither NaN nor infinity."""
    return [value if math.isfinite(value) else None for value in values]


def runs_part(collection: Collection, outputs: Path, page: Path) -> list[dict[str, Any]]:
    """Return a line for each cell: labels, state, tuned alpha, links to config and MLflow.

    Args:
        collection: results of one protocol.
        outputs: folder that the run folders are in.
        page: folder of the page; links to configs are relative to it.
    """
    up = Path(os.path.relpath(outputs.absolute(), page.absolute())).as_posix()
    return [_run(cell, outputs, up) for cell in collection.cells.to_dict("records")]


def environment_part(collection: Collection, outputs: Path) -> dict[str, Any]:
    """Return what the runs that are there were computed with, and how many have each."""
    found: Counter[tuple[tuple[str, str], ...]] = Counter()
    data: dict[str, dict[str, None]] = {}
    for folder, dataset in collection.cells[["folder", "dataset"]].itertuples(index=False):
        known = read_json(outputs / folder / ENVIRONMENT) if folder else None
        if not isinstance(known, dict):
            continue
        found[tuple(_software(known).items())] += 1
        table = known.get("data") or {}
        data.setdefault(dataset, {})[f"{table.get('hash')} ({table.get('source')})"] = None
    return {
        "runs": int((collection.cells["folder"] != "").sum()),
        "read": found.total(),
        "software": [{"runs": n, "versions": dict(key)} for key, n in found.most_common()],
        "data": {dataset: list(hashes) for dataset, hashes in data.items()},
    }


def mlflow_link(run_hash: str) -> str:
    """Return the page of MLflow that finds a run by the hash its folder is named by."""
    return MLFLOW + quote(f'tags.hash = "{run_hash}"', safe="")


def _run(cell: dict[str, Any], outputs: Path, up: str) -> dict[str, Any]:
    names = ("dataset", "link", "cutoff", "method", "state", "folder")
    run, folder = {name: cell[name] for name in names}, cell["folder"]
    if cell["state"] == "done":
        run["alpha"] = cell["alpha"]
    if cell["reason"]:
        run["reason"] = cell["reason"]
    if folder and (outputs / folder / CONFIG).is_file():
        run["config"] = quote(f"{up}/{folder}/{CONFIG}")
    if folder:
        run["mlflow"] = mlflow_link(Path(folder).name)
    return run


def _software(known: dict[str, Any]) -> dict[str, str]:
    """Return name and version of all that is the same for many runs."""
    versions = {name: known.get(name) for name in ("commit", "engine", "python", "machine")}
    versions |= known.get("packages") or {}
    return {name: str(version) for name, version in versions.items() if version}

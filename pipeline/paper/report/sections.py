"""The report below the verdict: tables, lines to draw, and where the figures come from."""

from __future__ import annotations

import math
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import count, product
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from pipeline.files import read_json
from pipeline.paper.by_setting import Grid, grids, lines_of, relative
from pipeline.paper.collection import Collection, fill_command, fill_commands
from pipeline.paper.comparison.compare import Comparison
from pipeline.paper.published import BASELINE, CELL_KEY, DIGITS, METHODS, absent, published
from pipeline.paper.tables import Table, gaps
from pipeline.results.runs import CONFIG, ENVIRONMENT

RUN_LABELS = ("dataset", "link", "cutoff", "method", "state", "folder")
SIGNIFICANT = 4  # digits of a point: less than a pixel
Shared = defaultdict[tuple[float, ...], int]  # numbers of lists that many lines share
# The pages of `make ui`. The experiment of the project is the first after MLflow's own.
MLFLOW = "http://127.0.0.1:5000/#/experiments/1/runs?workflowType=machine_learning&searchFilter="


def table_part(table: Table, protocol: str) -> dict[str, Any]:
    """Return title, caption, rows and the commands for the gaps of a table."""
    spaced = table.name.replace("table", "table ").replace("appendix_", "appendix, ")
    return {
        "id": f"{protocol}_{table.name}",
        "protocol": protocol,
        "title": spaced.replace("_", " ").capitalize(),  # "Table 1" or "Appendix, linear 1"
        "caption": table.caption,
        "rows": list(map(list, table.rows)),
        "commands": fill_commands(gaps([table], protocol)),
    }


def cells_part(
    collection: Collection, comparison: Comparison, tables: Iterable[Table]
) -> dict[str, dict[str, Any]]:
    """Return every published cell of some tables by its labels with slashes between.

    Each view of a cell has ``n``, the number to sort by, ``t``, the text, and ``b`` where it is
    the least of its row; a cell without results has the command that fills it. The paper's figure
    has ``misprint`` where it is bold in print and not the least.
    """
    rows = {row: figures for table in tables for row, figures in table.rows.items()}
    reasons = collection.cells.set_index(CELL_KEY)["reason"].to_dict()
    cells = comparison.cells.set_index(CELL_KEY).to_dict("index")
    protocol, found = collection.protocol, dict[str, dict[str, Any]]()
    for row, method in product((row for row in published() if row.key in rows), METHODS):
        key, figure, loss = (*row.key, method), rows[row.key][method], row.loss[method]
        done = figure.state == "done"
        ours = {"n": figure.loss, "t": figure.printed, "e": figure.printed_error.strip()}
        paper = {"n": loss, "t": f"{loss:.{DIGITS}f}", "b": method in row.best}
        misprint = {"misprint": True} if row.misprinted and row.bold == method else {}
        shown = found["/".join(key)] = {
            "state": figure.state,
            "verdict": cells[key]["verdict"],
            "ours": {**ours, "b": figure.bold} if done else None,
            "paper": paper | misprint,
            "z": _z(cells[key]["z"]),
        }
        if not done:
            gap = dict(zip(CELL_KEY, key, strict=True), protocol=protocol)
            shown |= {"command": fill_command(gap), "reason": reasons.get(key, "")}
    return found


def _z(z: float) -> dict[str, Any] | None:
    """Return z with one digit; JSON knows no infinity, so it sorts as the largest number."""
    if np.isnan(z):
        return None
    if math.isinf(z):
        return {"n": math.copysign(sys.float_info.max, z), "t": "+∞" if z > 0 else "−∞"}
    return {"n": z, "t": f"{z:+.1f}".replace("-", "−")}


def series_part(collection: Collection) -> dict[str, Any]:
    """Return the lines by setting and method, and the commands for those that are missing."""
    shared: Shared = defaultdict(count().__next__)
    curves, losses = lines_of(collection.curves), grids(collection.losses)
    tuned = collection.cells.set_index(CELL_KEY)["alpha"].to_dict()
    protocol, settings = collection.protocol, dict[str, Any]()
    for setting in sorted({*curves, *losses, *(row.key for row in published())}):
        found = losses.get(setting, {})
        lacking = absent(found)
        labels = {"protocol": protocol, **setting._asdict(), "method": ",".join(lacking)}
        settings["/".join(setting)] = {
            "curves": {
                method: {
                    "x": shared[tuple(line.rounds.tolist())],
                    "y": _numbers(line.mean, SIGNIFICANT),
                    "e": _numbers(line.error, SIGNIFICANT),
                }
                for method, line in curves.get(setting, {}).items()
            },
            "alphas": {
                method: _alphas(grid, found[BASELINE], tuned[*setting, method], shared)
                for method, grid in found.items()
                if BASELINE in found and found[BASELINE].has(grid.splits) and _whole(grid).any()
            },
            "missing": [*lacking, fill_command(labels)] if lacking else [],
        }
    return {"lists": list(map(list, shared)), "settings": settings}


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
        "x": shared[tuple(kept.alphas.tolist())],
        "loss": kept.loss.mean(axis=1).tolist(),
        "y": _numbers(line.ratio),
        "e": _numbers(line.error),
        "tuned": tuned,
    }


def _whole(grid: Grid) -> NDArray[np.bool_]:
    """Tell which alphas were run on all splits."""
    return np.asarray(np.isfinite(grid.loss).all(axis=1))


def _numbers(values: Iterable[float], digits: int = 17) -> list[float | None]:
    """Return numbers with some of their digits, 17 are all, and None where there is none.

    JSON has neither NaN nor infinity.
    """
    return [float(f"{value:.{digits}g}") if math.isfinite(value) else None for value in values]


def runs_part(collection: Collection, outputs: Path, page: Path) -> list[dict[str, Any]]:
    """Return a line for each cell: labels, state, tuned alpha, links to config and MLflow.

    Args:
        collection: results of one protocol.
        outputs: folder that the run folders are in.
        page: folder of the page; links to configs are relative to it.
    """
    up = Path(os.path.relpath(outputs.absolute(), page.absolute())).as_posix()
    runs = []
    for cell in collection.cells.to_dict("records"):
        run, folder = {name: cell[name] for name in RUN_LABELS}, cell["folder"]
        if cell["state"] == "done":
            run["alpha"] = cell["alpha"]
        if cell["reason"]:
            run["reason"] = cell["reason"]
        if folder and (outputs / folder / CONFIG).is_file():
            run["config"] = quote(f"{up}/{folder}/{CONFIG}")
        if folder:
            run["mlflow"] = mlflow_link(Path(folder).name)
        runs.append(run)
    return runs


def environment_part(collection: Collection, outputs: Path) -> dict[str, Any]:
    """Return what the runs that are there were computed with, and how many have each."""
    found: Counter[tuple[tuple[str, str], ...]] = Counter()
    data: dict[str, dict[str, None]] = {}
    for folder, dataset in collection.cells[["folder", "dataset"]].itertuples(index=False):
        known = read_json(outputs / folder / ENVIRONMENT) if folder else None
        if not isinstance(known, dict):
            continue
        versions = {name: known.get(name) for name in ("commit", "engine", "python", "machine")}
        versions |= known.get("packages") or {}
        found[tuple((name, str(version)) for name, version in versions.items() if version)] += 1
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

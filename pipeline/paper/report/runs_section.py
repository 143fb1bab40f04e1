"""Where each figure comes from: run folders, MLflow and what the runs were computed with."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pipeline.files import read_json
from pipeline.paper.collection import Collection
from pipeline.results.runs import CONFIG, ENVIRONMENT

# The pages of `make ui`. The experiment of the project is the first after MLflow's own.
MLFLOW = "http://127.0.0.1:5000/#/experiments/1/runs?workflowType=machine_learning&searchFilter="


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
    folders = [folder for folder in collection.cells["folder"] if folder]
    for folder, dataset in zip(
        collection.cells["folder"], collection.cells["dataset"], strict=True
    ):
        known = read_json(outputs / folder / ENVIRONMENT) if folder else None
        if not isinstance(known, dict):
            continue
        found[tuple(_software(known).items())] += 1
        table = known.get("data") or {}
        data.setdefault(dataset, {})[f"{table.get('hash')} ({table.get('source')})"] = None
    return {
        "runs": len(folders),
        "read": found.total(),
        "software": [{"runs": n, "versions": dict(key)} for key, n in found.most_common()],
        "data": {dataset: list(hashes) for dataset, hashes in data.items()},
    }


def mlflow_link(run_hash: str) -> str:
    """Return the page of MLflow that finds a run by the hash its folder is named by."""
    return MLFLOW + quote(f'tags.hash = "{run_hash}"', safe="")


def _run(cell: dict[str, Any], outputs: Path, up: str) -> dict[str, Any]:
    labels = {name: cell[name] for name in ("dataset", "link", "cutoff", "method")}
    folder = cell["folder"]
    run = {**labels, "state": cell["state"], "folder": folder}
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

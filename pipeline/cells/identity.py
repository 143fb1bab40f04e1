"""What a result depends on, the folder that is named after it, and what it was computed with."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import platform
import subprocess
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from pipeline.cells.cell import Cell
from pipeline.cells.compute import compute
from pipeline.cells.definitions import CODE, PROJECT
from pipeline.cells.problem import data_hash, dataset_of, prepare
from pipeline.core.methods import Method
from pipeline.core.methods.base import REGISTRY
from pipeline.data.configured import MAKERS
from pipeline.data.dataset import Dataset
from pipeline.data.sources import Settings
from pipeline.results.runs import RunFolder, runs_dir

HASH_LENGTH = 12
PACKAGES = (
    "onesided", "numpy", "scipy", "numba", "pandas", "pyarrow", "scikit-learn", "hydra-core",
)  # fmt: skip
# The way from a cell and its data to the figures.
_ENGINE = CODE.follow(prepare, compute)
ENGINE = _ENGINE.digest


def identity_of(cell: Cell, data: Settings) -> dict[str, Any]:
    """Return config, data, method and engine: the same values give the same result."""
    return {
        "config": _config(cell),
        "data": _data(cell, data),
        "method": method_digest(type(cell.method)),
        "engine": ENGINE,
    }


@lru_cache(maxsize=256)
def method_digest(method: type[Method]) -> str:
    """Return a digest of a method's class and of what it leads to beyond the engine."""
    return CODE.follow(method, after=_ENGINE).digest


# Taken when the code is imported: a process that outlives a change of a file still runs the old
# code, and must not claim otherwise.
for _method in REGISTRY.values():
    if _method.__module__.startswith(f"{PROJECT}."):
        method_digest(_method)


def folder_of(cell: Cell, identity: Mapping[str, Any], outputs: Path) -> RunFolder:
    """Return the run folder of a cell."""
    text = json.dumps(identity, sort_keys=True)
    name = hashlib.sha256(text.encode()).hexdigest()[:HASH_LENGTH]
    return RunFolder(runs_dir(outputs).joinpath(*cell.labels.values(), name))


def _config(cell: Cell) -> dict[str, Any]:
    return {
        "protocol": cell.protocol,
        "dataset": _dataset(cell),
        "link": cell.link,
        "cutoff": {key: value for key, value in vars(cell.cutoff).items() if value is not None},
        "method": {"name": cell.method.name, **vars(cell.method)},
        "alphas": list(cell.alphas),
        "splits": list(cell.splits),
        "seed": cell.seed,
        "setting": {key: _plain(value) for key, value in vars(cell.setting).items()},
        "curve_points": cell.curve_points,
    }


def _dataset(cell: Cell) -> dict[str, Any]:
    """Return the options that the hash of the data does not tell.

    A table is known by its values, wherever it comes from; whether a model adds an intercept is
    not among them.
    """
    if cell.table is not None:
        group = None if cell.table.group is None else cell.table.group.column
        options = {"group": group, "intercept": cell.table.intercept}
    elif cell.dataset["name"] in MAKERS:
        options = {key: value for key, value in cell.dataset.items() if key not in ("name", "path")}
    else:
        recipe = cell.dataset["protocols"].get(cell.protocol, {})
        options = {"group": cell.dataset.get("group"), "intercept": recipe.get("intercept")}
    return {"name": cell.dataset_label, **options}


def _data(cell: Cell, data: Settings) -> str:
    """Return the hash of the data: for the ten that of their config, which loading checks."""
    if cell.table is None and "protocols" in cell.dataset and not cell.dataset.get("group"):
        recipe = cell.dataset["protocols"].get(cell.protocol, {})
        expected = recipe.get("expect", {}).get("sha256")
        if expected:
            return str(expected)
    return data_hash(dataset_of(cell, data))


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else value


def environment_of(identity: Mapping[str, Any], dataset: Dataset) -> dict[str, Any]:
    """Return what belongs into ``environment.json``; the same in every process of a machine."""
    return {
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "packages": {name: _version(name) for name in PACKAGES},
        "commit": commit(),
        "data": {"hash": identity["data"], "source": dataset.source},
        "method": identity["method"],
        "engine": identity["engine"],
    }


@cache
def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


@lru_cache(maxsize=1)
def commit() -> str | None:
    """Return the project's git commit, with ``+`` where files differ from it; None without git."""
    root = Path(__file__).parents[2]
    if not (root / ".git").exists():
        return None
    options = ("--always", "--abbrev=40", "--dirty=+", "--exclude=*")  # no tag: the commit itself
    command = ["git", "-C", str(root), "describe", *options]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()

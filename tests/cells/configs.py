"""Configs for tests, composed by Hydra as the command line does."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra

from pipeline.cells.cell import Cell
from pipeline.cells.read import make_cell, plain
from pipeline.cells.runner import Places, run_cells
from pipeline.data.sources import Settings
from pipeline.files import conf_dir
from pipeline.results.journal import Journal, Run
from pipeline.sweeps.executors import here
from pipeline.sweeps.run import order_of, run


@lru_cache(maxsize=64)
def _composed(overrides: tuple[str, ...]) -> Any:
    GlobalHydra.instance().clear()
    with initialize_config_dir(str(conf_dir()), version_base="1.3"):
        return compose("config", overrides=list(overrides))


def config(*overrides: str) -> Any:
    """Return a composed config."""
    return _composed(overrides).copy()


def values(*overrides: str) -> dict[str, Any]:
    """Return a composed config as plain values."""
    return plain(config(*overrides))


def places(outputs: Path) -> Places:
    """Return places that use no network."""
    return Places(outputs, Settings.of(offline=True))


def run_one(*overrides: str, config_dirs: Sequence[Path] = ()) -> Run:
    """Run one cell as a command does, in this process."""
    chosen = values(*overrides)
    journal = Journal(Path(tempfile.mkdtemp()))
    order = order_of({**chosen, "n_jobs": 1}, here)
    (only,) = run({0: make_cell(chosen, config_dirs)}, order, journal)
    return only


def run_listed(cells: Sequence[Cell], places: Places, **options: Any) -> list[Run]:
    """Run cells of one problem, numbered as they come."""
    return run_cells(dict(enumerate(cells)), places, **options)


SMALL = ("splits=2", "alpha=[0.1,1]", "tracking=none")

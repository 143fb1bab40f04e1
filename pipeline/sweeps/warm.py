"""Compile the kernels once, before several workers would do it at the same time."""

from __future__ import annotations

import contextlib
import importlib
import platform
import sys
from importlib.metadata import version
from pathlib import Path

from pipeline.cells.identity import ENGINE

NOTICE = "compiling the kernels: about a minute, once …"


def warm_up() -> None:
    """Compile what cells need, unless it is known to have been done."""
    marker = _marker()
    if marker.exists():
        return
    print(NOTICE, file=sys.stderr, flush=True)
    try:
        _compile()
    except Exception:  # numba's cache is damaged, or names classes by where they were before
        for file in _package("pipeline.core").rglob("*.nb[ci]"):
            with contextlib.suppress(OSError):
                file.unlink()
        _compile()
    # A package that cannot be written to has no marker: numba keeps its cache elsewhere.
    with contextlib.suppress(OSError):
        marker.touch()


def _marker() -> Path:
    name = f"kernels-{ENGINE}-{platform.python_version()}-{version('numba')}.ready"
    return _package("pipeline.core.kernels") / "__pycache__" / name


def _package(name: str) -> Path:
    return Path(next(iter(importlib.import_module(name).__path__)))


def _compile() -> None:
    """Run both links, dense and sparse, on a few rows."""
    import numpy as np

    from pipeline.core.engine import simulate
    from pipeline.core.lanes import Split, grid
    from pipeline.core.links import LINKS
    from pipeline.core.models.base import ModelSpec

    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = (X[:, 0] > 0).astype(np.float64)
    split = Split(np.arange(20), np.arange(20, 40))
    lanes = grid(["greedy", "ours"], [1.0], [0.5], 1)
    for link in LINKS.values():
        for sparse in (False, True):
            spec = ModelSpec(link=link)
            simulate(X, y, truth=y, splits=[split], lanes=lanes, spec=spec, sparse=sparse)

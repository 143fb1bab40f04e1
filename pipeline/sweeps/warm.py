"""Compile the kernels once, before several workers would do it at the same time."""

from __future__ import annotations

import contextlib
import importlib
import os
import platform
import sys
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from pathlib import Path

from pipeline.cells.identity import ENGINE

NOTICE = "compiling the kernels: a few seconds, once …"
LINKS = ("linear", "logistic")


def warm_up(links: Iterable[str] = LINKS) -> None:
    """Compile what cells with these links need, unless it is known to have been done.

    All workers then run the same machine code, whoever would have compiled it first.
    """
    kinds = {"linear" if link == "linear" else "logistic" for link in links}
    missing = [kind for kind in sorted(kinds) if not any(map(Path.exists, _markers(kind)))]
    if missing:
        print(NOTICE, file=sys.stderr, flush=True)
    for kind in missing:
        _compile(kind)
        for marker in _markers(kind):
            with contextlib.suppress(OSError):
                marker.parent.mkdir(parents=True, exist_ok=True)
                marker.touch()
                break


def _markers(kind: str) -> Iterator[Path]:
    """Yield where it may be noted: beside the kernels, else where the user may write."""
    name = f"{kind}-{ENGINE}-{platform.python_version()}-{version('numba')}.ready"
    package = Path(next(iter(importlib.import_module("pipeline.core.kernels").__path__)))
    yield package / "__pycache__" / name
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    yield Path(cache, "onesided", name)


def _compile(link: str) -> None:
    """Run a few rows, dense and sparse."""
    import numpy as np

    from pipeline.core.engine import simulate
    from pipeline.core.lanes import Split, grid
    from pipeline.core.links import get_link
    from pipeline.core.models.base import ModelSpec

    X = np.random.default_rng(0).normal(size=(40, 3))
    y = (X[:, 0] > 0).astype(np.float64)
    split, spec = Split(np.arange(20), np.arange(20, 40)), ModelSpec(link=get_link(link))
    lanes = grid(["greedy", "ours"], [1.0], [0.5], 1)
    for sparse in (False, True):
        simulate(X, y, truth=y, splits=[split], lanes=lanes, spec=spec, sparse=sparse)

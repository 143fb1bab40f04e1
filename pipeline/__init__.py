"""Learning under one-sided feedback: the paper's methods, its experiments, and your own data.

from pipeline import curves, groups, sweep
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pipeline.results.frame import curves, groups
    from pipeline.sweeps.from_python import sweep

__all__ = ["curves", "groups", "sweep"]

_HOMES = {
    "curves": "pipeline.results.frame",
    "groups": "pipeline.results.frame",
    "sweep": "pipeline.sweeps.from_python",
}


def __getattr__(name: str) -> Any:
    """Import what is asked for only then: ``import pipeline`` itself costs nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)

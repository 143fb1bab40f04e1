"""The methods, found by name: those of every file here are registered."""

from __future__ import annotations

import importlib
import pkgutil

from pipeline.core.methods.base import REGISTRY, Method, Setting, register
from pipeline.core.near_misses import closest

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")


def method_names() -> list[str]:
    """Return the names of all registered methods."""
    return sorted(REGISTRY)


def get_method(method: str | Method) -> Method:
    """Return the method of that name with its default parameters; a Method passes through."""
    if isinstance(method, Method):
        return method
    if method not in REGISTRY:
        raise ValueError(f"unknown method {method!r}{closest(method, REGISTRY)}")
    return REGISTRY[method]()


__all__ = ["Method", "Setting", "get_method", "method_names", "register"]

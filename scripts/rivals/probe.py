"""Is a package there? Each rival answers with a status instead of failing the whole run."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version


def probe(module: str, distribution: str) -> tuple[bool, str]:
    """(True, "name version") where the module imports, else (False, why not)."""
    try:
        import_module(module)
        return True, f"{distribution} {version(distribution)}"
    except Exception as error:  # a broken shared library may raise anything
        return False, f"{type(error).__name__}: {error}"

"""What a result was computed with: versions, commit, data, code."""

from __future__ import annotations

import importlib.metadata
import platform
import subprocess
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from pipeline.data.dataset import Dataset

PACKAGES = (
    "onesided", "numpy", "scipy", "numba", "pandas", "pyarrow", "scikit-learn", "hydra-core",
)  # fmt: skip


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
    try:
        head = _git(root, "rev-parse", "HEAD")
        changed = _git(root, "status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.SubprocessError):
        return None
    return f"{head}+" if changed else head


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(root), *arguments],
        capture_output=True,
        text=True,
        check=True,
        timeout=10,
    )
    return done.stdout.strip()

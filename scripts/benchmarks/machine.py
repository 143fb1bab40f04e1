"""What the benchmark ran on."""

from __future__ import annotations

import os
import platform
import re
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("numpy", "numba", "scipy", "scikit-learn", "river", "mabwiser", "vowpalwabbit")


def describe() -> list[str]:
    """Return processor, system and versions; no name of the machine, no date."""
    system = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    return [f"{_processor()}, {os.cpu_count()} cores", system, ", ".join(map(_version, PACKAGES))]


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    text = cpuinfo.read_text(encoding="utf-8") if cpuinfo.exists() else ""
    found = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return found[1] if found else platform.processor() or "unknown processor"


def _version(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return f"no {package}"

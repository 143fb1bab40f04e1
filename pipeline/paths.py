"""Where things are: in a checkout and in an installed wheel."""

from __future__ import annotations

from pathlib import Path


def conf_dir() -> Path:
    """Return the folder of the configs: packed into the wheel, or beside the package."""
    packed = Path(__file__).parent / "conf"
    return packed if packed.is_dir() else Path(__file__).parents[1] / "conf"

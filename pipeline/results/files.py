"""Text, JSON and CSV of results, written whole or not at all."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.files import replacing

if TYPE_CHECKING:
    import pandas as pd


def write_text(path: Path, text: str) -> None:
    """Write a text file, whole or not at all."""
    with replacing(path) as partial:
        partial.write_text(text, encoding="utf-8")


def write_json(path: Path, value: Any) -> None:
    """Write a value as JSON that reads well and is the same for the same value."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def write_csv(
    path: Path, frame: pd.DataFrame, digits: str | None = "%.6g", missing: str = ""
) -> None:
    """Write a table, the same for the same figures.

    Args:
        path: to write to.
        frame: the table, without its index.
        digits: of a rational number; None for all it has.
        missing: what stands for a figure that is not there.
    """
    with replacing(path) as partial:
        frame.to_csv(partial, index=False, lineterminator="\n", float_format=digits, na_rep=missing)


def digest(path: Path) -> str | None:
    """Return the sha256 of a file's bytes, None where it cannot be read."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None


def read_json(path: Path) -> Any:
    """Return what a JSON file holds, None where there is none or it is damaged."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError, json.JSONDecodeError, UnicodeDecodeError):
        return None

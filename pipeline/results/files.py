"""Text and JSON of results, written whole or not at all."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from pipeline.files import replacing


def write_text(path: Path, text: str) -> None:
    """Write a text file, whole or not at all."""
    with replacing(path) as partial:
        partial.write_text(text, encoding="utf-8")


def write_json(path: Path, value: Any) -> None:
    """Write a value as JSON that reads well and is the same for the same value."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


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

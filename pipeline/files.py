"""Files that are there whole or not at all, their digests, and where the configs are."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

# mkstemp gives no rights to others, a result file should: those the umask leaves.
_MASK = os.umask(0)
os.umask(_MASK)
_MODE = 0o666 & ~_MASK

PART = ".part"
SECONDS_IN_USE = 3600.0  # a file is written in less; whoever wrote an older part is dead


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a name to write to; what was written takes the place of ``path`` at the end.

    Whatever happens before, ``path`` stays as it was and nothing is left beside it. The folder
    is made where it is missing.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=PART, dir=path.parent)
    os.close(handle)
    partial = Path(name)
    try:
        yield partial
        with partial.open("rb+") as file:
            os.fsync(file.fileno())
        partial.chmod(_MODE)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def remove_parts(folder: Path) -> None:
    """Remove what killed processes left half-written; a younger part may be in use elsewhere."""
    oldest = time.time() - SECONDS_IN_USE
    for part in folder.glob(f".*{PART}"):
        with suppress(OSError):  # litter is no reason to fail
            if part.stat().st_mtime < oldest:
                part.unlink()


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


def conf_dir() -> Path:
    """Return the folder of the configs: packed into the wheel, or beside the package."""
    packed = Path(__file__).parent / "conf"
    return packed if packed.is_dir() else Path(__file__).parents[1] / "conf"

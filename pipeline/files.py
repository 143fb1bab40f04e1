"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

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

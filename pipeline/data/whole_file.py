"""Files that are there as a whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from pipeline.data.errors import DataError


@contextlib.contextmanager
def whole_file(path: Path, advice: str) -> Iterator[Path]:
    """Give a file to write, which takes its place when all is written; nothing is left of a part.

    Args:
        path: its place; folders on the way are made.
        advice: what to do where it cannot be written.
    """
    partial = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        os.close(handle)
        partial = Path(name)
        yield partial
        partial.chmod(0o644)
        partial.replace(path)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else error
        raise DataError(f"{path} cannot be written: {reason}; {advice}") from error
    finally:
        if partial is not None:
            partial.unlink(missing_ok=True)

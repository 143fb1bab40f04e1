"""Files of data, and what to do where one cannot be written."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from pipeline.data.errors import DataError
from pipeline.files import replacing


@contextlib.contextmanager
def whole_file(path: Path, advice: str) -> Iterator[Path]:
    """Give a file to write, which takes its place when all is written; nothing is left of a part.

    Args:
        path: its place; folders on the way are made.
        advice: what to do where it cannot be written.
    """
    try:
        with replacing(path) as partial:
            yield partial
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else error
        raise DataError(f"{path} cannot be written: {reason}; {advice}") from error

"""What can go wrong on the way from a name to a dataset."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pipeline.files import replacing


class DataError(Exception):
    """A dataset cannot be had as asked; the message says why and what to do."""


class MismatchError(DataError):
    """Data is not what its config expects; the message shows both figures."""

    @classmethod
    def of(cls, what: str, expected: object, found: object) -> MismatchError:
        """Return the error that shows both figures."""
        return cls(f"{what}: expected {expected}, found {found}")


class UnavailableError(DataError):
    """A source cannot deliver at present; another one may."""


@contextmanager
def about(what: str) -> Iterator[None]:
    """Have the message of a DataError start with the file or place it is about."""
    try:
        yield
    except DataError as error:
        raise DataError(f"{what}: {error}") from error


@contextmanager
def whole_file(path: Path, advice: str) -> Iterator[Path]:
    """Give a file to write, which takes its place when all is written; nothing is left of a part.

    Args:
        path: its place; folders on the way are made.
        advice: what to do where it cannot be written, for the DataError.
    """
    try:
        with replacing(path) as partial:
            yield partial
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else error
        raise DataError(f"{path} cannot be written: {reason}; {advice}") from error

"""Files inside zips, read without unpacking anything to disk."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import IO

from pipeline.data.errors import DataError


def read_member(what: str, file: IO[bytes], member: Sequence[str], max_bytes: int) -> bytes:
    """Return the file at the end of a way through zips, of at most ``max_bytes``.

    Args:
        what: the archive's name, for messages.
        file: the archive.
        member: the member's name; if there are more, each but the last is a zip itself.
        max_bytes: limit for every member on the way, unpacked.
    """
    for name in member:
        content = _read_one(what, file, name, max_bytes)
        what, file = f"{what}/{name}", io.BytesIO(content)
    return content


def _read_one(what: str, file: IO[bytes], name: str, max_bytes: int) -> bytes:
    try:
        with zipfile.ZipFile(file) as archive:
            _refuse_strange_paths(what, archive)
            size = archive.getinfo(name).file_size
            if size > max_bytes:
                raise too_large(f"{what}/{name}", size, max_bytes)
            with archive.open(name) as stream:
                content = stream.read(max_bytes + 1)
    except KeyError:
        raise DataError(f"{what} has no member {name!r}") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, OSError) as error:
        raise DataError(f"{what} is not a sound zip: {error}") from error
    if len(content) > max_bytes:
        raise too_large(f"{what}/{name}", f"more than {max_bytes}", max_bytes)
    return content


def _refuse_strange_paths(what: str, archive: zipfile.ZipFile) -> None:
    for name in archive.namelist():
        path = PurePosixPath(name.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts or path.drive:
            raise DataError(f"{what} has a member outside its folder: {name!r}")


def too_large(what: str, size: object, max_bytes: int) -> DataError:
    """Return the error for a file above the limit."""
    return DataError(f"{what} has {size} bytes, the limit is {max_bytes} (data.max_bytes)")

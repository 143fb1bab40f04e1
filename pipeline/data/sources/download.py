"""A file from an address, and files inside zips, within limits of size and time."""

from __future__ import annotations

import http.client
import io
import re
import sys
import time
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO

from pipeline.data.errors import DataError, UnavailableError
from pipeline.data.sources.settings import Settings

CHUNK = 1 << 16


def download(address: str, file: IO[bytes], settings: Settings) -> None:
    """Write what an address serves to a file, within the limits of size and time."""
    if not address.startswith(("http://", "https://")):
        raise DataError(f"{address} is not an http address")
    request = urllib.request.Request(address, headers={"User-Agent": "onesided"})
    try:
        with urllib.request.urlopen(request, timeout=settings.timeout) as response:
            _copy(address, response, file, settings)
    except urllib.error.HTTPError as error:
        raise UnavailableError(f"{address} answers {error.code} {error.reason}") from error
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
        reason = "no answer in time" if isinstance(reason, TimeoutError) else reason
        raise UnavailableError(f"{address} cannot be reached: {reason}") from error


def _copy(
    address: str, response: http.client.HTTPResponse, file: IO[bytes], settings: Settings
) -> None:
    length = response.headers.get("Content-Length", "")
    total = int(length) if length.isdigit() else None
    if total is not None:
        check_size(address, total, settings.max_bytes)
    give_up, done = time.monotonic() + settings.time_limit, 0
    with _progress(address.rpartition("/")[2] or address, total) as show:
        while chunk := response.read1(CHUNK):
            file.write(chunk)
            done += len(chunk)
            show(done)
            if done > settings.max_bytes:
                raise too_large(address, f"more than {settings.max_bytes}", settings.max_bytes)
            if time.monotonic() > give_up:
                raise UnavailableError(f"{address}: not done after {settings.time_limit:g} s")
        if total not in (None, done):
            raise UnavailableError(f"{address} is cut off: {done} of {total} bytes came")


@contextmanager
def _progress(label: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """Give what shows the bytes so far: a bar in a terminal, its ends as plain lines elsewhere."""
    from rich.console import Console
    from rich.filesize import decimal
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

    terminal = sys.stderr.isatty()
    columns = (TextColumn("{task.description}", markup=False), BarColumn(30), DownloadColumn())
    with Progress(*columns, console=Console(file=sys.stderr), disable=not terminal) as bar:
        task = bar.add_task(label, total=total)
        if not terminal:
            size = "" if total is None else f" {decimal(total)}"
            print(f"{label}: fetching{size}", file=sys.stderr, flush=True)
        yield lambda done: bar.update(task, completed=done)
        if not terminal:
            fetched = decimal(int(bar.tasks[0].completed))
            print(f"{label}: {fetched} fetched", file=sys.stderr, flush=True)


def read_member(what: str, file: IO[bytes], member: Sequence[str], max_bytes: int) -> bytes:
    """Return the file at the end of a way through zips, of at most ``max_bytes``.

    Nothing is unpacked to disk.

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
            for path in archive.namelist():
                if path[:1] in ("/", "\\") or ".." in re.split(r"[/\\]", path):
                    raise DataError(f"{what} has a member outside its folder: {path!r}")
            check_size(f"{what}/{name}", archive.getinfo(name).file_size, max_bytes)
            with archive.open(name) as stream:
                content = stream.read(max_bytes + 1)
    except KeyError:
        raise DataError(f"{what} has no member {name!r}") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, OSError) as error:
        raise DataError(f"{what} is not a sound zip: {error}") from error
    return content


def check_size(what: str, size: int, max_bytes: int) -> None:
    """Raise where a file is above the limit."""
    if size > max_bytes:
        raise too_large(what, size, max_bytes)


def too_large(what: str, size: object, max_bytes: int) -> DataError:
    """Return the error for a file above the limit."""
    return DataError(f"{what} has {size} bytes, the limit is {max_bytes} (data.max_bytes)")

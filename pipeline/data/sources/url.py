"""Raw files from where they are published.

A download goes to a file without a name in the cache folder, so nothing of it is left when it
fails, is stopped or is not what it should be; what is kept is the table made of it.
"""

from __future__ import annotations

import http.client
import tempfile
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import IO, ClassVar

import pandas as pd

from pipeline.data.errors import DataError, UnavailableError
from pipeline.data.sources.archive import read_member, too_large
from pipeline.data.sources.base import check_sha256
from pipeline.data.sources.progress import Progress
from pipeline.data.sources.reader import check_is_data, read_files
from pipeline.data.sources.settings import Settings
from pipeline.data.spec import Table, Url

CHUNK = 1 << 16


@dataclass(frozen=True)
class UrlSource:
    """The addresses that a table's files declare."""

    name: ClassVar[str] = "url"
    settings: Settings

    def table(self, name: str, table: Table) -> pd.DataFrame | None:  # noqa: ARG002
        """Return the table, if all of its files have an address."""
        urls = {file.path: file.url for file in table.files if file.url is not None}
        if not urls or len(urls) < len(table.files):
            return None
        contents: dict[str, bytes] = {}
        for address in dict.fromkeys(url.address for url in urls.values()):
            with self._temporary() as archive:
                download(address, archive, self.settings)
                wanted = {path: url for path, url in urls.items() if url.address == address}
                contents |= {path: self._content(url, archive) for path, url in wanted.items()}
        return read_files([(path, contents[path]) for path in urls], table)

    def _temporary(self) -> IO[bytes]:
        self.settings.cache.mkdir(parents=True, exist_ok=True)
        return tempfile.TemporaryFile(dir=self.settings.cache)

    def _content(self, url: Url, file: IO[bytes]) -> bytes:
        """Return one raw file, checked."""
        file.seek(0)
        if url.member:
            check_is_data(url.address, file.read(1024))
            content = read_member(url.address, file, url.member, self.settings.max_bytes)
        else:
            content = file.read()
        what = "/".join([url.address, *url.member])
        check_is_data(what, content)
        check_sha256(what, content, url.sha256)
        return content


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
        raise UnavailableError(f"{address} cannot be reached: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    reason = getattr(error, "reason", error)
    return "no answer in time" if isinstance(reason, TimeoutError) else str(reason)


def _copy(
    address: str, response: http.client.HTTPResponse, file: IO[bytes], settings: Settings
) -> None:
    length = response.headers.get("Content-Length", "")
    total = int(length) if length.isdigit() else None
    if total is not None and total > settings.max_bytes:
        raise too_large(address, total, settings.max_bytes)
    progress = Progress(address.rpartition("/")[2] or address, total)
    give_up, complete = time.monotonic() + settings.time_limit, False
    try:
        while chunk := response.read1(CHUNK):
            file.write(chunk)
            progress.advance(len(chunk))
            if progress.done > settings.max_bytes:
                raise too_large(address, f"more than {settings.max_bytes}", settings.max_bytes)
            if time.monotonic() > give_up:
                raise UnavailableError(f"{address}: not done after {settings.time_limit:g} s")
        complete = total is None or progress.done == total
    finally:
        progress.close(complete)
    if not complete:
        raise UnavailableError(f"{address} is cut off: {progress.done} of {total} bytes came")

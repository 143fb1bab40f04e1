"""Raw files as they were published, in a mirror or at their addresses, to a canonical table.

Only declared columns are taken over, others are left behind.
"""

from __future__ import annotations

import csv
import hashlib
import io
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, ClassVar

import pandas as pd

from pipeline.data.errors import DataError, MismatchError, UnavailableError
from pipeline.data.sources.download import download, read_member
from pipeline.data.sources.settings import Settings
from pipeline.data.sources.table import make_table
from pipeline.data.spec import Format, Table, Url


@dataclass(frozen=True)
class Mirror:
    """Raw files under <folder>/<dataset>/; never written to."""

    name: ClassVar[str] = "mirror"
    folder: Path

    def table(self, name: str, table: Table) -> pd.DataFrame | None:  # noqa: ARG002
        """Return the table, if all of its files are there."""
        if not table.files:
            return None
        if not self.folder.is_dir():
            raise UnavailableError(f"there is no folder {self.folder}")
        contents = {}
        for file in table.files:
            path = self.folder / file.path
            if not path.is_file():
                raise UnavailableError(f"there is no {file.path} in {self.folder}")
            contents[file.path] = path.read_bytes()
            check_sha256(str(path), contents[file.path], file.sha256)
        return read_files(contents, table)


@dataclass(frozen=True)
class UrlSource:
    """The addresses that a table's files declare.

    A download goes to a file without a name in the cache folder, so nothing of it is left when it
    fails, is stopped or is not what it should be; what is kept is the table made of it.
    """

    name: ClassVar[str] = "url"
    settings: Settings

    def table(self, name: str, table: Table) -> pd.DataFrame | None:  # noqa: ARG002
        """Return the table, if all of its files have an address."""
        urls = {file.path: file.url for file in table.files if file.url is not None}
        if not urls or len(urls) < len(table.files):
            return None
        contents = dict.fromkeys(urls, b"")
        self.settings.cache.mkdir(parents=True, exist_ok=True)
        for address in dict.fromkeys(url.address for url in urls.values()):
            with tempfile.TemporaryFile(dir=self.settings.cache) as archive:
                download(address, archive, self.settings)
                wanted = {path: url for path, url in urls.items() if url.address == address}
                contents |= {path: self._content(url, archive) for path, url in wanted.items()}
        return read_files(contents, table)

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


def check_sha256(what: str, content: bytes, expected: str | None) -> None:
    """Raise where a raw file is not the known one; None: it is not known."""
    found = hashlib.sha256(content).hexdigest()
    if expected is not None and found != expected:
        raise MismatchError.of(f"{what}, sha256", expected, found)


def check_is_data(path: str, content: bytes) -> None:
    """Raise where a file is empty, or a web page that stands in for it."""
    start = content[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if not start:
        raise DataError(f"{path} is empty")
    if start.startswith((b"<!doctype html", b"<html", b"<head", b"<?xml")):
        raise DataError(f"{path} is a web page, not data (a login or error page?)")


def read_files(contents: Mapping[str, bytes], table: Table) -> pd.DataFrame:
    """Return the rows of all files, by their paths, in the order given."""
    columns: dict[str, list[object]] = {name: [] for name in table.columns}
    for path, content in contents.items():
        for name, cells in _read_file(path, content, table).items():
            columns[name].extend(cells)
    return make_table(columns, table)


def _read_file(path: str, content: bytes, table: Table) -> dict[str, list[object]]:
    """Return the declared columns of one file, None where a value is missing."""
    check_is_data(path, content)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not a text file in UTF-8: {error.reason}") from error
    rows = _rows(path, text, table.format)
    names = next(rows, []) if table.format.header else list(table.columns)
    places = _places(path, names, table)
    cells = list(zip(*_same_width(path, rows, len(names)), strict=True))
    if not cells:
        raise DataError(f"{path} holds no rows")
    return {name: _clean(name, cells[place], table.format) for name, place in places.items()}


def _rows(path: str, text: str, layout: Format) -> Iterator[list[str]]:
    lines: Iterable[str] = io.StringIO(text, newline=None)
    if layout.kind == "arff":
        lines = _below_data(path, lines)
    elif layout.kind != "csv":
        raise DataError(f"unknown format {layout.kind!r}: csv or arff")
    if layout.comment is not None:
        mark = layout.comment
        lines = (line for line in lines if not line.startswith(mark))
    lines = (line for line in lines if line.strip())
    if layout.separator == "space":
        return (line.split() for line in lines)
    return csv.reader(lines, delimiter=layout.separator, skipinitialspace=True, strict=True)


def _below_data(path: str, lines: Iterable[str]) -> Iterator[str]:
    rest = iter(lines)
    for line in rest:
        if line.strip().lower() == "@data":
            return (line for line in rest if not line.startswith("%"))
    raise DataError(f"{path} has no @DATA line")


def _places(path: str, names: Sequence[str], table: Table) -> dict[str, int]:
    """Return where each declared column stands."""
    missing = [name for name in table.columns if name not in names]
    if missing:
        advice = "is the separator right?" if len(names) == 1 else "is it another version?"
        raise DataError(
            f"{path}: no column {missing[0]!r} ({len(missing)} of {len(table.columns)} declared "
            f"columns are missing; {advice})"
        )
    repeated = [name for name in table.columns if names.count(name) > 1]
    if repeated and table.format.repeated != "first":
        raise DataError(f"{path}: column {repeated[0]!r} is there more than once")
    return {name: names.index(name) for name in table.columns}


def _same_width(path: str, rows: Iterator[list[str]], width: int) -> Iterator[list[str]]:
    try:
        for number, row in enumerate(rows, start=1):
            if len(row) != width:
                raise DataError(
                    f"{path}, row {number}: {width} columns expected, {len(row)} found "
                    "(wrong separator, or a truncated file?)"
                )
            yield row
    except csv.Error as error:
        raise DataError(f"{path} is not well-formed: {error}") from error


def _clean(name: str, cells: Sequence[str], layout: Format) -> list[object]:
    end = layout.strip_end.get(name, "")
    stripped = (cell.strip().rstrip(end) if end else cell.strip() for cell in cells)
    missing = frozenset(layout.missing)
    return [None if cell in missing else cell for cell in stripped]

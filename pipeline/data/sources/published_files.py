"""Raw files as they were published, in a mirror or at their addresses, to a canonical table.

Only declared columns are taken over, others are left behind.
"""

from __future__ import annotations

import csv
import hashlib
import io
import itertools
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import IO

import pandas as pd

from pipeline.data.errors import DataError, MismatchError, UnavailableError
from pipeline.data.sources.download import download, read_member
from pipeline.data.sources.settings import MIRROR, Settings
from pipeline.data.sources.table import make_table
from pipeline.data.spec import Format, Table, Url


def from_mirror(_: str, table: Table, settings: Settings) -> pd.DataFrame | None:
    """Return the table, if all of its files are in <mirror>/<dataset>/, which is never written."""
    if not table.files:
        return None
    if settings.mirror is None:
        raise UnavailableError(f"none is set (data.mirror or ${MIRROR})")
    if not settings.mirror.is_dir():
        raise UnavailableError(f"there is no folder {settings.mirror}")
    contents = {}
    for file in table.files:
        path = settings.mirror / file.path
        if not path.is_file():
            raise UnavailableError(f"there is no {file.path} in {settings.mirror}")
        contents[file.path] = path.read_bytes()
        check_sha256(str(path), contents[file.path], file.sha256)
    return read_files(contents, table)


def from_urls(_: str, table: Table, settings: Settings) -> pd.DataFrame | None:
    """Return the table, if all of its files declare an address.

    A download goes to a file without a name in the cache folder, so nothing of it is left when it
    fails, is stopped or is not what it should be; what is kept is the table made of it.
    """
    urls = {file.path: file.url for file in table.files if file.url is not None}
    if not urls or len(urls) < len(table.files):
        return None
    contents = dict.fromkeys(urls, b"")
    settings.cache.mkdir(parents=True, exist_ok=True)
    for address in dict.fromkeys(url.address for url in urls.values()):
        with tempfile.TemporaryFile(dir=settings.cache) as archive:
            download(address, archive, settings)
            for path, url in urls.items():
                if url.address == address:
                    contents[path] = _content(url, archive, settings.max_bytes)
    return read_files(contents, table)


def _content(url: Url, file: IO[bytes], max_bytes: int) -> bytes:
    """Return one raw file, checked."""
    file.seek(0)
    check_is_data(url.address, file.read(1024))
    file.seek(0)
    content = read_member(url.address, file, url.member, max_bytes) if url.member else file.read()
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
    try:
        rows = list(_rows(path, text, table.format))
    except csv.Error as error:
        raise DataError(f"{path} is not well-formed: {error}") from error
    names = list(table.columns)
    if table.format.header:
        names, *rows = rows or [[]]
    places = _places(path, names, table)
    for number, row in enumerate(rows, start=1):
        if len(row) != len(names):
            raise DataError(
                f"{path}, row {number}: {len(names)} columns expected, {len(row)} found "
                "(wrong separator, or a truncated file?)"
            )
    if not rows:
        raise DataError(f"{path} holds no rows")
    return {
        name: _clean(name, (row[place] for row in rows), table.format)
        for name, place in places.items()
    }


def _rows(path: str, text: str, layout: Format) -> Iterator[list[str]]:
    lines: Iterator[str] = io.StringIO(text, newline=None)
    marks: tuple[str, ...] = () if layout.comment is None else (layout.comment,)
    if layout.kind == "arff":
        lines = itertools.dropwhile(lambda line: line.strip().lower() != "@data", lines)
        if next(lines, None) is None:
            raise DataError(f"{path} has no @DATA line")
        marks += ("%",)
    elif layout.kind != "csv":
        raise DataError(f"unknown format {layout.kind!r}: csv or arff")
    rows = (line for line in lines if line.strip() and not line.startswith(marks))
    if layout.separator == "space":
        return map(str.split, rows)
    return csv.reader(rows, delimiter=layout.separator, skipinitialspace=True, strict=True)


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


def _clean(name: str, cells: Iterable[str], layout: Format) -> list[object]:
    end = layout.strip_end.get(name, "")
    stripped = (cell.strip().rstrip(end) for cell in cells)
    return [None if cell in layout.missing else cell for cell in stripped]

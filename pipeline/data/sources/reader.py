"""Raw files to a canonical table: only declared columns are taken over, others are left behind."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence

import pandas as pd

from pipeline.data.errors import DataError
from pipeline.data.sources.table import make_table
from pipeline.data.spec import Format, Table


def read_files(contents: Sequence[tuple[str, bytes]], table: Table) -> pd.DataFrame:
    """Return the rows of all files, in the order given, as (path, content)."""
    columns: dict[str, list[object]] = {name: [] for name in table.columns}
    for path, content in contents:
        for name, cells in read_file(path, content, table).items():
            columns[name].extend(cells)
    return make_table(columns, table)


def read_file(path: str, content: bytes, table: Table) -> dict[str, list[object]]:
    """Return the declared columns of one file, None where a value is missing."""
    check_is_data(path, content)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not a text file in UTF-8: {error.reason}") from error
    rows = _rows(path, text, table.format)
    names = list(table.columns)
    if table.format.header:
        names = next(rows, [])
    places = _places(path, names, table)
    cells = list(zip(*_same_width(path, rows, len(names)), strict=True))
    if not cells:
        raise DataError(f"{path} holds no rows")
    return {name: _clean(name, cells[place], table.format) for name, place in places.items()}


def check_is_data(path: str, content: bytes) -> None:
    """Raise where a file is empty, or a web page that stands in for it."""
    start = content[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if not start:
        raise DataError(f"{path} is empty")
    if start.startswith((b"<!doctype html", b"<html", b"<head", b"<?xml")):
        raise DataError(f"{path} is a web page, not data (a login or error page?)")


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
    repeated = [name for name in table.columns if list(names).count(name) > 1]
    if repeated and table.format.repeated != "first":
        raise DataError(f"{path}: column {repeated[0]!r} is there more than once")
    return {name: list(names).index(name) for name in table.columns}


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

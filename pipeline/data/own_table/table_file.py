"""A user's own file to a frame: CSV or parquet, either of them gzipped.

pyarrow converts a CSV block by block straight into columns of the kind that fits all rows; texts
are kept once each. Line breaks inside quotes cost time to look for: a file that has no quotes in
its first megabyte is read without, and again if that fails.

Messages name file, column and row number, never the content of a row.
"""

from __future__ import annotations

import csv
import gzip
import io
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv as arrow

from pipeline.core.near_misses import closest
from pipeline.data.errors import DataError, about
from pipeline.data.sources.published_files import check_is_data

HEAD = 1 << 20
BLOCK = 1 << 22
SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe", " ": "space"}
LIKELY = ",;\t|"
MISSING = ("", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "#N/A", "?")


def read_frame(
    path: Path | str,
    separator: str | None = None,
    missing: Sequence[str] = MISSING,
    drop: Sequence[str] = (),
) -> pd.DataFrame:
    """Return a CSV or parquet file, gzipped or not, as a frame.

    Args:
        path: the file.
        separator: of a CSV, a character or its name: comma, semicolon, tab, pipe, space; None for
            a tab in a .tsv file and a comma elsewhere.
        missing: texts of a CSV that stand for a missing value.
        drop: columns that are left behind in the file.
    """
    path = Path(path).expanduser()
    if not path.is_file():
        raise DataError(f"there is no file {path}")
    try:
        with _opened(path) as content:
            head = content.read(HEAD)
        check_is_data(str(path), head)
        is_parquet = head.startswith(b"PAR1")
        table = _parquet(path) if is_parquet else _Csv(path, head, separator, missing).table()
    except (EOFError, gzip.BadGzipFile) as error:
        raise DataError(f"{path} is not a sound gzip file: {error}") from error
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from error
    with about(str(path)):
        check_there("drop", drop, table.column_names)
        table = table.select([name for name in table.column_names if name not in drop])
        _check_columns(table)
    if not table.num_rows:
        raise DataError(f"{path} holds column names but no rows")
    frame = table.to_pandas(split_blocks=True, self_destruct=True, date_as_object=False)
    pa.default_memory_pool().release_unused()  # the blocks of the file, as much memory again
    return frame


def _is_gzip(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) == b"\x1f\x8b"


def _opened(path: Path) -> gzip.GzipFile | io.BufferedReader:
    """Return the content, unpacked."""
    return gzip.open(path) if _is_gzip(path) else path.open("rb")


def _parquet(path: Path) -> Any:
    try:
        packed = _is_gzip(path)
        return pq.read_table(pa.BufferReader(gzip.open(path).read()) if packed else path)
    except pa.ArrowException as error:
        raise DataError(f"{path} is not a sound parquet file: {error}") from error


def _check_columns(table: pa.Table) -> None:
    """Raise where names repeat, or a column is no vector of values."""
    check_names(table.column_names)
    for column in table.schema:
        if pa.types.is_nested(column.type):
            message = f"column {column.name!r} holds {column.type}, not single values"
            raise DataError(f"{message}; leave it out with dataset.drop=[{column.name}]")
        kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
            raise DataError(f"column {column.name!r} is not text in UTF-8; save the file as UTF-8")


def check_names(names: Sequence[object]) -> None:
    """Raise where two columns have the same name."""
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise DataError(f"column {repeated[0]!r} is there more than once; rename one")


def check_there(role: str, columns: Sequence[str], names: Sequence[str]) -> None:
    """Raise where a column that ``dataset.<role>`` names is not there."""
    for column in columns:
        if column not in names:
            hint = closest(column, names)
            raise DataError(f"there is no column {column!r} (dataset.{role}){hint}")


def separator_of(given: object) -> str:
    """Return the character that a user names, by itself or by its name."""
    by_name = {name: character for character, name in SEPARATORS.items()} | {"\\t": "\t"}
    character = by_name.get(str(given).lower(), str(given))
    if len(character) != 1 or not character.isascii() or character in '"\r\n\0':
        known = ", ".join(SEPARATORS.values())
        raise DataError(f"dataset.separator={given!r} is not one character; known names: {known}")
    return character


class _Csv:
    """One CSV file; see the module's docstring."""

    def __init__(
        self, path: Path, head: bytes, separator: str | None, missing: Sequence[str]
    ) -> None:
        self.path, self.head, self.missing = path, head, list(missing)
        self.separator = separator_of(separator or ("tab" if ".tsv" in path.suffixes else "comma"))

    def table(self) -> Any:
        """Return the rows as an arrow table."""
        names, failure = self._names(), ""
        for line_breaks in dict.fromkeys((b'"' in self.head, True)):
            try:
                return self._read(names, line_breaks)
            except (pa.ArrowInvalid, pa.ArrowKeyError) as error:
                failure = type(error).__name__  # its message may hold a row
        raise self._malformed(len(names), failure)

    def _names(self) -> list[str]:
        """Return the names in the first line."""
        text = self.head.decode("utf-8-sig", errors="replace")
        lines = io.StringIO(text, newline=None)  # \r ends a line, too
        try:
            names = next(csv.reader(lines, delimiter=self.separator), [])
        except csv.Error as error:
            advice = "is there a quote that never ends?"
            message = f"{self.path}: the first line, of column names, cannot be read"
            raise DataError(f"{message} ({error}); {advice}") from None
        if len(names) < 2:
            found = f"one column only with separator {self.separator!r}"
            raise DataError(f"{self.path} has {found}{self._likely(text)}")
        with about(str(self.path)):
            check_names(names)
        return [name or f"unnamed {place}" for place, name in enumerate(names, start=1)]

    def _likely(self, text: str) -> str:
        """Return advice, where another separator is in the first line."""
        first = next(io.StringIO(text, newline=None), "")
        best = max(LIKELY, key=first.count)
        if not first.count(best):
            return "; name the right one with dataset.separator=…"
        return f"; try dataset.separator={SEPARATORS[best]}"

    def _read(self, names: list[str], line_breaks: bool) -> Any:

        packed = "gzip" if _is_gzip(self.path) else None
        with pa.input_stream(str(self.path), compression=packed) as source:
            return arrow.read_csv(
                source,
                arrow.ReadOptions(column_names=names, skip_rows_after_names=1, block_size=BLOCK),
                arrow.ParseOptions(delimiter=self.separator, newlines_in_values=line_breaks),
                arrow.ConvertOptions(
                    null_values=self.missing,
                    strings_can_be_null=True,
                    auto_dict_encode=True,
                    auto_dict_max_cardinality=10_000,
                ),
            )

    def _malformed(self, width: int, failure: str) -> DataError:
        """Return what is wrong: the first row of another width, numbered from below the names."""
        with _opened(self.path) as file, suppress(csv.Error):
            text = io.TextIOWrapper(file, encoding="utf-8", errors="replace", newline="")
            rows = csv.reader(text, delimiter=self.separator)
            next(rows)
            for number, row in enumerate(rows, start=1):
                if row and len(row) != width:
                    advice = "a separator inside a value needs quotes; a cut-off file, its last row"
                    return DataError(
                        f"{self.path}: a row has {len(row)} values where the first line names"
                        f" {width} columns (row {number}; {advice})"
                    )
        message = f"{self.path} is not a well-formed CSV file ({failure})"
        return DataError(f"{message}; are there quotes that never end?")

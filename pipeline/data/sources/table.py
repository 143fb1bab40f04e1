"""Raw tables in one canonical form, whatever they were read from: typed columns, hash, parquet.

A column of kind ``number`` is float64 with NaN where a value is missing, one of kind ``text``
holds strings with None.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pipeline.data.errors import DataError, MismatchError, whole_file
from pipeline.data.spec import Table

FloatArray = NDArray[np.float64]
NUMBER, TEXT = "number", "text"


def number_column(name: str, values: Sequence[object]) -> FloatArray:
    """Return values as correctly rounded float64, None as NaN. Bad ones are counted, not shown."""
    cells = np.array(values, dtype=object)
    missing = np.array([value is None for value in values], dtype=bool)
    try:
        numbers = np.where(missing, np.nan, cells).astype(np.float64)
    except (TypeError, ValueError):
        bad = int(pd.to_numeric(pd.Series(cells[~missing]), errors="coerce").isna().sum())
        message = f"column {name!r}: {bad} of {len(cells)} values are not numbers"
        raise DataError(message) from None
    if not np.isfinite(numbers[~missing]).all():
        raise DataError(f"column {name!r} holds NaN or infinite numbers")
    return numbers


def make_table(columns: dict[str, list[object]], table: Table) -> pd.DataFrame:
    """Return the canonical table of raw cells, None where a value is missing."""
    typed: dict[str, pd.Series] = {}
    for name, kind in table.columns.items():
        if kind == NUMBER:
            typed[name] = pd.Series(number_column(name, columns[name]))
        else:
            cells = [None if cell is None else str(cell) for cell in columns[name]]
            typed[name] = pd.Series(cells, dtype=object)
    return pd.DataFrame(typed)


def table_hash(frame: pd.DataFrame) -> str:
    """Return the sha256 of all values.

    Column by column: its name and a zero byte; then numbers as little-endian float64 (−0 as 0,
    missing as the standard NaN), or texts as UTF-8, each followed by a zero byte, a missing one
    as byte 1.
    """
    digest = hashlib.sha256()
    for name, column in frame.items():
        digest.update(str(name).encode() + b"\0")
        if column.dtype.kind == "f":
            numbers = column.to_numpy(np.float64) + 0.0
            digest.update(np.where(np.isnan(numbers), np.nan, numbers).astype("<f8").tobytes())
        else:
            cells = ("\1" if pd.isna(cell) else str(cell) for cell in column)
            digest.update("".join(f"{cell}\0" for cell in cells).encode())
    return digest.hexdigest()


def check_table(frame: pd.DataFrame, name: str, table: Table, where: str) -> None:
    """Raise where a table differs from what its config expects."""
    what = f"table {name} from {where}"
    if list(frame.columns) != list(table.columns):
        raise MismatchError.of(f"{what}, columns", list(table.columns), list(frame.columns))
    if len(frame) != table.expect.rows:
        raise MismatchError.of(f"{what}, rows", table.expect.rows, len(frame))
    found = table_hash(frame)
    if found != table.expect.sha256:
        advice = "a damaged or changed copy: the number of rows is right, values are not"
        raise MismatchError.of(f"{what}, hash of values", table.expect.sha256, found, advice)


def write_parquet(frame: pd.DataFrame, path: Path, advice: str = "choose another folder") -> None:
    """Write a table compactly; ``advice`` is for the message where that fails."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    arrays = {}
    for name, column in frame.items():
        if column.dtype.kind == "f":
            arrays[str(name)] = pa.array(column, from_pandas=True)
        else:
            text = pa.array(column, type=pa.string(), from_pandas=True)
            arrays[str(name)] = text.dictionary_encode()
    with whole_file(path, advice) as partial:
        pq.write_table(pa.table(arrays), partial, compression="zstd", compression_level=19)


def _texts(column: Any) -> pd.Series:
    """Return an arrow column as strings, None where one is missing."""
    return pd.Series(column.cast("string").to_numpy(), dtype=object)


def read_parquet(path: Path, table: Table) -> pd.DataFrame:
    """Return a table that :func:`write_parquet` wrote."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        stored = pq.read_table(path, columns=list(table.columns))
        columns = {
            name: stored[name].to_numpy() if kind == NUMBER else _texts(stored[name])
            for name, kind in table.columns.items()
        }
    except (OSError, KeyError, pa.ArrowException) as error:
        raise MismatchError.of(f"{path}", "a table in parquet", f"unreadable: {error}") from error
    return pd.DataFrame(columns)

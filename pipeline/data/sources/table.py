"""Raw tables in one canonical form, whatever they were read from, and where they are kept.

A column of kind ``number`` is float64 with NaN where a value is missing, one of kind ``text``
holds strings with None. Tables are kept in three places: bundled with the
package, in data/raw, and in the cache.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from pipeline.data.errors import DataError, MismatchError, whole_file
from pipeline.data.sources.settings import CACHE, RAW, Settings
from pipeline.data.spec import Table

FloatArray = NDArray[np.float64]
NUMBER = "number"  # the other kind is text
BUNDLED = Path(__file__).parents[1] / "bundled"
GONE_BAD = "removed it, the next call fetches it again"
RAW_ADVICE = f"free some space, or set ${RAW} to another folder"
CACHE_ADVICE = f"free some space, or set ${CACHE} to another folder"


def number_column(name: str, values: Sequence[object]) -> FloatArray:
    """Return values as correctly rounded float64. Bad ones are counted, not shown."""
    cells = np.array(values, dtype=object)
    missing = pd.isna(cells)
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
    """Return the canonical table of raw cells, None or NaN where a value is missing."""
    typed: dict[str, pd.Series] = {}
    for name, kind in table.columns.items():
        if kind == NUMBER:
            typed[name] = pd.Series(number_column(name, columns[name]))
        else:
            cells = [None if pd.isna(cell) else str(cell) for cell in columns[name]]
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
        found += " (a damaged or changed copy: the number of rows is right, values are not)"
        raise MismatchError.of(f"{what}, hash of values", table.expect.sha256, found)


def write_parquet(frame: pd.DataFrame, path: Path, advice: str = "choose another folder") -> None:
    """Write a table compactly; ``advice`` is for the message where that fails."""
    arrays = {}
    for name, column in frame.items():
        if column.dtype.kind == "f":
            arrays[str(name)] = pa.array(column, from_pandas=True)
        else:
            text = pa.array(column, type=pa.string(), from_pandas=True)
            arrays[str(name)] = text.dictionary_encode()
    with whole_file(path, advice) as partial:
        pq.write_table(pa.table(arrays), partial, compression="zstd", compression_level=19)


def read_parquet(path: Path, table: Table) -> pd.DataFrame:
    """Return a table that :func:`write_parquet` wrote."""
    try:
        stored = pq.read_table(path, columns=list(table.columns))
        columns = {
            name: stored[name].to_numpy()
            if kind == NUMBER
            else pd.Series(stored[name].cast("string").to_numpy(), dtype=object)
            for name, kind in table.columns.items()
        }
    except (OSError, KeyError, pa.ArrowException) as error:
        raise MismatchError.of(f"{path}", "a table in parquet", f"unreadable: {error}") from error
    return pd.DataFrame(columns)


def from_bundle(name: str, table: Table, _: Settings) -> pd.DataFrame | None:
    """Return one of the tables that come with the package, made by scripts/bundle_data.py."""
    return read_parquet(BUNDLED / f"{name}.parquet", table) if table.bundled else None


def raw_path(name: str, table: Table, settings: Settings) -> Path:
    """Return where ``python -m pipeline.data fetch`` writes a table, or DVC pulls it to."""
    return settings.raw / f"{table.raw or name}.parquet"


def cache_path(name: str, settings: Settings) -> Path:
    """Return where a table is kept that was fetched, in a folder that nobody else writes to."""
    return settings.cache / "tables" / f"{name}.parquet"


def from_raw(name: str, table: Table, settings: Settings) -> pd.DataFrame | None:
    """Return a table of data/raw, if it is there."""
    return _sound(raw_path(name, table, settings), name, table)


def from_cache(name: str, table: Table, settings: Settings) -> pd.DataFrame | None:
    """Return a table that was fetched before, if it was."""
    return _sound(cache_path(name, settings), name, table)


def _sound(path: Path, name: str, table: Table) -> pd.DataFrame | None:
    """Return a table that is there; one that has gone bad is removed."""
    if not path.is_file():
        return None
    try:
        frame = read_parquet(path, table)
        check_table(frame, name, table, str(path))
    except DataError as error:
        path.unlink(missing_ok=True)
        raise MismatchError(f"{error}; {GONE_BAD}") from error
    return frame


@contextlib.contextmanager
def fetching(name: str, settings: Settings) -> Iterator[None]:
    """Let one process at a time fetch a table; the others wait and find it kept."""
    path = settings.cache / "locks" / name
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("w")
    except OSError as error:
        reason = f"{error.strerror}; set ${CACHE} to another folder"
        raise DataError(f"the cache {settings.cache} cannot be written ({reason})") from error
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield

"""Tables from OpenML, through the openml package.

The client runs in a process of its own that is stopped when time is up: a server that never
answers would hang it for ever. Its cache is a folder that is removed afterwards (it holds
pickles, and would keep a bad file); what is kept is the checked table, or for a dataset that no
config declares openml/<id>.parquet in our cache. A dataset in $OPENML_CACHE_DIR is used, from a
copy without its pickles.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.data.errors import DataError, MismatchError, UnavailableError, whole_file
from pipeline.data.sources.download import too_large
from pipeline.data.sources.settings import Settings
from pipeline.data.sources.table import CACHE_ADVICE, GONE_BAD, fetching, make_table
from pipeline.data.spec import Table
from pipeline.files import read_json

CLIENT = Path(__file__).with_name("openml_client.py")
KEY = b"onesided"  # of the metadata of a kept file


def from_openml(_: str, table: Table, settings: Settings) -> pd.DataFrame | None:
    """Return the table under its declared names and values, if it has an id on OpenML."""
    if table.openml is None:
        return None
    data_id, renamed = table.openml.data_id, table.openml.values
    frame = fetch_arrow(data_id, settings)[0].to_pandas()
    expected, found = len(table.columns), len(frame.columns)
    if expected != found:
        raise DataError(f"OpenML {data_id}: {expected} columns expected, {found} found")
    columns: dict[str, list[object]] = {}
    for name, given in zip(table.columns, frame.columns, strict=True):
        values = {str(key): value for key, value in renamed.get(name, {}).items()}
        columns[name] = [values.get(_shown(cell), cell) for cell in frame[given].astype(object)]
    return make_table(columns, table)


def fetch_arrow(data_id: int, settings: Settings) -> tuple[Any, str | None]:
    """Return any dataset as an arrow table, and the name of its target column."""
    settings.cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=settings.cache, prefix="openml-") as folder:
        answer = _run_client(data_id, Path(folder), settings)
        error, kind = answer.get("error"), answer.get("kind")
        if kind == "large":
            raise too_large(f"OpenML {data_id}", error, settings.max_bytes)
        if error is not None:
            failure = DataError if kind == "bad" else UnavailableError
            raise failure(f"OpenML {data_id}: {error}")
        return pq.read_table(Path(folder) / "table.parquet"), answer.get("target")


def _run_client(data_id: int, folder: Path, settings: Settings) -> dict[str, str | None]:
    """Let the client write table.parquet; return its answer."""
    arguments = [data_id, folder, settings.openml_server or "", settings.max_bytes]
    command = [sys.executable, "-P", CLIENT, *arguments]  # -P: its folder is no path
    limit = min(settings.time_limit, 4 * settings.timeout)
    print(f"OpenML {data_id}: fetching", file=sys.stderr, flush=True)
    try:
        done = subprocess.run(
            [*map(str, command)], capture_output=True, text=True, timeout=limit, check=False
        )
    except subprocess.TimeoutExpired:
        raise UnavailableError(f"OpenML {data_id}: no answer within {limit:g} s") from None
    answer: dict[str, str | None] | None = read_json(folder / "answer.json")
    if answer is None:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise UnavailableError(f"OpenML {data_id}: the client failed: {last}")
    return answer


def _shown(cell: object) -> str:
    """Return a value as in a config: 1.0 and "1" are both "1"."""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def find_openml(data_id: int, settings: Settings) -> tuple[pd.DataFrame, str | None]:
    """Return a dataset that no config declares, and the name of its target column.

    It is fetched once, then read from the cache: the table as the client gave it, and beside it
    the target's name and the server.
    """
    path = settings.cache / "openml" / f"{data_id}.parquet"
    found = _read_kept(path, settings)
    if found is None:
        if settings.offline:
            reason = f"forbidden by data.offline=true, and there is no {path}"
            raise UnavailableError(f"OpenML {data_id}: {reason}")
        with fetching(f"openml_{data_id}", settings):
            # Another process may have just fetched it.
            found = _read_kept(path, settings) or _fetch(data_id, path, settings)
    table, target = found
    return table.to_pandas(), target


def _read_kept(path: Path, settings: Settings) -> tuple[Any, str | None] | None:
    """Return table and target; None where there is no file, or one from another server."""
    if not path.is_file():
        return None
    try:
        table = pq.read_table(path)
        known = json.loads((table.schema.metadata or {})[KEY])
        target, server = known["target"], known["server"]
    except (OSError, KeyError, ValueError, pa.ArrowException) as error:
        path.unlink(missing_ok=True)
        found = f"an unreadable file; {GONE_BAD}"
        raise MismatchError.of(str(path), "a table in parquet", found) from error
    return (table, target) if server == settings.openml_server else None


def _fetch(data_id: int, path: Path, settings: Settings) -> tuple[Any, str | None]:
    """Fetch table and target, and keep them."""
    table, target = fetch_arrow(data_id, settings)
    known = json.dumps({"target": target, "server": settings.openml_server})
    table = table.replace_schema_metadata({**(table.schema.metadata or {}), KEY: known})
    with whole_file(path, CACHE_ADVICE) as partial:
        pq.write_table(table, partial, compression="zstd")
    return table, target

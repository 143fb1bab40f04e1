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
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd

from pipeline.data.errors import DataError, MismatchError, UnavailableError, whole_file
from pipeline.data.sources.download import too_large
from pipeline.data.sources.kept import GONE_BAD, Cache
from pipeline.data.sources.settings import Settings
from pipeline.data.sources.table import make_table
from pipeline.data.spec import OpenML, Table

CLIENT = Path(__file__).with_name("openml_client.py")
KEY = b"onesided"  # of the metadata of a kept file


@dataclass(frozen=True)
class OpenMLSource:
    """Datasets on OpenML by their id."""

    name: ClassVar[str] = "openml"
    settings: Settings

    def table(self, name: str, table: Table) -> pd.DataFrame | None:  # noqa: ARG002
        """Return the table, if it has an id."""
        if table.openml is None:
            return None
        data_id = table.openml.data_id
        frame = self.arrow(data_id)[0].to_pandas()
        expected, found = len(table.columns), len(frame.columns)
        if expected != found:
            raise DataError(f"OpenML {data_id}: {expected} columns expected, {found} found")
        return _canonical(frame, table, table.openml)

    def arrow(self, data_id: int) -> tuple[Any, str | None]:
        """Return any dataset as an arrow table, and the name of its target column."""
        import pyarrow.parquet as pq

        self.settings.cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self.settings.cache, prefix="openml-") as folder:
            answer = self._run_client(data_id, Path(folder))
            error, kind = answer.get("error"), answer.get("kind")
            if kind == "large":
                raise too_large(f"OpenML {data_id}", error, self.settings.max_bytes)
            if error is not None:
                failure = DataError if kind == "bad" else UnavailableError
                raise failure(f"OpenML {data_id}: {error}")
            return pq.read_table(Path(folder) / "table.parquet"), answer.get("target")

    def _run_client(self, data_id: int, folder: Path) -> dict[str, str | None]:
        """Let the client write table.parquet; return its answer."""
        server, most = self.settings.openml_server or "", self.settings.max_bytes
        arguments = [str(data_id), str(folder), server, str(most)]
        command = [sys.executable, "-P", str(CLIENT), *arguments]  # -P: its folder is no path
        limit = min(self.settings.time_limit, 4 * self.settings.timeout)
        print(f"OpenML {data_id}: fetching", file=sys.stderr, flush=True)
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=limit, check=False
            )
        except subprocess.TimeoutExpired:
            message = f"OpenML {data_id}: no answer within {limit:g} s"
            raise UnavailableError(message) from None
        file = folder / "answer.json"
        if not file.is_file():
            last = (done.stderr.strip().splitlines() or ["no message"])[-1]
            raise UnavailableError(f"OpenML {data_id}: the client failed: {last}")
        answer: dict[str, str | None] = json.loads(file.read_text())
        return answer


def _canonical(frame: pd.DataFrame, table: Table, declared: OpenML) -> pd.DataFrame:
    """Return the columns under their declared names, with the declared values."""
    columns: dict[str, list[object]] = {}
    for name, given in zip(table.columns, frame.columns, strict=True):
        values = {str(key): value for key, value in declared.values.get(name, {}).items()}
        cells = frame[given].astype(object)
        columns[name] = [
            None if pd.isna(cell) else values.get(_shown(cell), cell) for cell in cells
        ]
    return make_table(columns, table)


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
        with Cache(settings.cache).lock(f"openml_{data_id}"):
            # Another process may have just fetched it.
            found = _read_kept(path, settings) or _fetch(data_id, path, settings)
    table, target = found
    return table.to_pandas(), target


def _read_kept(path: Path, settings: Settings) -> tuple[Any, str | None] | None:
    """Return table and target; None where there is no file, or one from another server."""
    import pyarrow as pa
    import pyarrow.parquet as pq

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
    import pyarrow.parquet as pq

    table, target = OpenMLSource(settings).arrow(data_id)
    known = json.dumps({"target": target, "server": settings.openml_server})
    table = table.replace_schema_metadata({**(table.schema.metadata or {}), KEY: known})
    with whole_file(path, Cache.advice) as partial:
        pq.write_table(table, partial, compression="zstd")
    return table, target

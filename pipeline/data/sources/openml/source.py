"""Tables from OpenML, through the openml package.

The client runs in a process of its own that is stopped when time is up: a server that never
answers would hang it for ever. Its cache is a folder that is removed afterwards (it holds
pickles, and would keep a bad file); what is kept is the checked table, or for a dataset that no
config declares what own_table/openml_kept.py writes. A dataset in $OPENML_CACHE_DIR is used, from
a copy without its pickles.
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

from pipeline.data.errors import DataError, UnavailableError
from pipeline.data.sources.archive import too_large
from pipeline.data.sources.settings import Settings
from pipeline.data.sources.table import make_table
from pipeline.data.spec import OpenML, Table

CLIENT = Path(__file__).with_name("client.py")


@dataclass(frozen=True)
class OpenMLSource:
    """Datasets on OpenML by their id."""

    name: ClassVar[str] = "openml"
    settings: Settings

    def table(self, name: str, table: Table) -> pd.DataFrame | None:  # noqa: ARG002
        """Return the table, if it has an id."""
        if table.openml is None:
            return None
        frame = self.arrow(table.openml.data_id)[0].to_pandas()
        if len(frame.columns) != len(table.columns):
            found, expected = len(frame.columns), len(table.columns)
            data_id = table.openml.data_id
            raise DataError(f"OpenML {data_id}: {expected} columns expected, {found} found")
        return _canonical(frame, table, table.openml)

    def arrow(self, data_id: int) -> tuple[Any, str | None]:
        """Return any dataset as an arrow table, and the name of its target column."""
        import pyarrow.parquet as pq

        self.settings.cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self.settings.cache, prefix="openml-") as folder:
            target = self._run_client(data_id, Path(folder))
            return pq.read_table(Path(folder) / "table.parquet"), target

    def _run_client(self, data_id: int, folder: Path) -> str | None:
        """Let the client write table.parquet; return the target's name."""
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
        answer = folder / "answer.json"
        if not answer.is_file():
            last = (done.stderr.strip().splitlines() or ["no message"])[-1]
            raise UnavailableError(f"OpenML {data_id}: the client failed: {last}")
        return self._target(data_id, json.loads(answer.read_text()))

    def _target(self, data_id: int, answer: dict[str, str | None]) -> str | None:
        """Return the target's name, or raise what the client reported."""
        error, kind = answer.get("error"), answer.get("kind")
        if error is None:
            return answer.get("target")
        if kind == "large":
            raise too_large(f"OpenML {data_id}", error, self.settings.max_bytes)
        raise (DataError if kind == "bad" else UnavailableError)(f"OpenML {data_id}: {error}")


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

"""Any dataset of OpenML: fetched once, then read from the cache, openml/<id>.parquet.

The file holds the table as the client gave it, and beside it the target's name and the server.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from pipeline.data.errors import MismatchError, UnavailableError
from pipeline.data.sources import Cache, OpenMLSource, Settings
from pipeline.data.sources.cache import ADVICE
from pipeline.data.whole_file import whole_file

KEY = b"onesided"  # of the metadata of the file


def find_openml(data_id: int, settings: Settings) -> tuple[pd.DataFrame, str | None]:
    """Return a dataset as the client gives it, and the name of its target column."""
    kept = _Kept(data_id, settings)
    found = kept.read()
    if found is None:
        if settings.offline:
            reason = f"forbidden by data.offline=true, and there is no {kept.path}"
            raise UnavailableError(f"OpenML {data_id}: {reason}")
        with Cache(settings.cache).lock(f"openml_{data_id}"):
            found = kept.read() or kept.fetch()  # another process may have just fetched it
    table, target = found
    return table.to_pandas(), target


@dataclass(frozen=True)
class _Kept:
    """The file of one dataset."""

    data_id: int
    settings: Settings

    @property
    def path(self) -> Path:
        return self.settings.cache / "openml" / f"{self.data_id}.parquet"

    def read(self) -> tuple[Any, str | None] | None:
        """Return table and target; None where there is no file, or one from another server."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        if not self.path.is_file():
            return None
        try:
            table = pq.read_table(self.path)
            known = json.loads((table.schema.metadata or {})[KEY])
            target, server = known["target"], known["server"]
        except (OSError, KeyError, ValueError, pa.ArrowException) as error:
            self.path.unlink(missing_ok=True)
            advice = "removed it, the next call fetches it again"
            found = f"an unreadable file; {advice}"
            raise MismatchError.of(str(self.path), "a table in parquet", found) from error
        return (table, target) if server == self.settings.openml_server else None

    def fetch(self) -> tuple[Any, str | None]:
        """Fetch table and target, and keep them."""
        import pyarrow.parquet as pq

        table, target = OpenMLSource(self.settings).arrow(self.data_id)
        known = json.dumps({"target": target, "server": self.settings.openml_server})
        table = table.replace_schema_metadata({**(table.schema.metadata or {}), KEY: known})
        with whole_file(self.path, ADVICE) as partial:
            pq.write_table(table, partial, compression="zstd")
        return table, target

"""Tables that `python -m pipeline.data fetch` wrote, or DVC pulled: data/raw."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pandas as pd

from pipeline.data.sources.cache import read_kept
from pipeline.data.sources.settings import RAW
from pipeline.data.sources.table import write_parquet
from pipeline.data.spec import Table

ADVICE = f"free some space, or set ${RAW} to another folder"


@dataclass(frozen=True)
class Raw:
    """A folder with one parquet file a table."""

    name: ClassVar[str] = "data/raw"
    folder: Path

    def path(self, name: str, table: Table) -> Path:
        """Return where a table is, or shall be."""
        return self.folder / f"{table.raw or name}.parquet"

    def table(self, name: str, table: Table) -> pd.DataFrame | None:
        """Return a table that is there; one that has gone bad is removed."""
        return read_kept(self.path(name, table), name, table)

    def keep(self, name: str, table: Table, frame: pd.DataFrame) -> None:
        """Write a checked table."""
        write_parquet(frame, self.path(name, table), ADVICE)

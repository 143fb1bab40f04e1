"""Tables that come with the package, made by scripts/bundle_data.py."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pandas as pd

from pipeline.data.sources.table import read_parquet
from pipeline.data.spec import Table

FOLDER = Path(__file__).parents[1] / "bundled"


@dataclass(frozen=True)
class Bundled:
    """The package's own folder of tables."""

    name: ClassVar[str] = "bundled"
    folder: Path = FOLDER

    def table(self, name: str, table: Table) -> pd.DataFrame | None:
        """Return the bundled table, if it is one of them."""
        return read_parquet(self.folder / f"{name}.parquet", table) if table.bundled else None

"""The theory's tables as files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from pipeline.results.files import replacing


def write_tables(tables: Mapping[str, pd.DataFrame], folder: Path) -> None:
    """Write each table to ``<name>.csv``, six digits of each figure, whole or not at all."""
    for name, table in tables.items():
        with replacing(folder / f"{name}.csv") as partial:
            table.to_csv(partial, index=False, lineterminator="\n", float_format="%.6g")

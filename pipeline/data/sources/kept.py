"""Tables that this package wrote: bundled with it, in data/raw, and in the cache."""

from __future__ import annotations

import contextlib
import fcntl
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pandas as pd

from pipeline.data.errors import DataError, MismatchError
from pipeline.data.sources.settings import CACHE, RAW
from pipeline.data.sources.table import check_table, read_parquet, write_parquet
from pipeline.data.spec import Table

BUNDLED = Path(__file__).parents[1] / "bundled"
GONE_BAD = "removed it, the next call fetches it again"


@dataclass(frozen=True)
class Bundled:
    """The tables that come with the package, made by scripts/bundle_data.py."""

    name: ClassVar[str] = "bundled"
    folder: Path = BUNDLED

    def table(self, name: str, table: Table) -> pd.DataFrame | None:
        """Return the bundled table, if it is one of them."""
        return read_parquet(self.folder / f"{name}.parquet", table) if table.bundled else None


@dataclass(frozen=True)
class Raw:
    """data/raw: what ``python -m pipeline.data fetch`` wrote, or DVC pulled."""

    name: ClassVar[str] = "data/raw"
    advice: ClassVar[str] = f"free some space, or set ${RAW} to another folder"
    folder: Path

    def path(self, name: str, table: Table) -> Path:
        """Return where a table is, or shall be."""
        return self.folder / f"{table.raw or name}.parquet"

    def table(self, name: str, table: Table) -> pd.DataFrame | None:
        """Return a table that is there; one that has gone bad is removed."""
        path = self.path(name, table)
        if not path.is_file():
            return None
        try:
            frame = read_parquet(path, table)
            check_table(frame, name, table, str(path))
        except DataError as error:
            path.unlink(missing_ok=True)
            raise MismatchError(f"{error}; {GONE_BAD}") from error
        return frame

    def keep(self, name: str, table: Table, frame: pd.DataFrame) -> None:
        """Write a checked table."""
        write_parquet(frame, self.path(name, table), self.advice)


@dataclass(frozen=True)
class Cache(Raw):
    """What was fetched before, declared columns only; a folder that nobody else writes to."""

    name: ClassVar[str] = "cache"
    advice: ClassVar[str] = f"free some space, or set ${CACHE} to another folder"

    def path(self, name: str, table: Table) -> Path:  # noqa: ARG002
        """Return where a table is, or shall be."""
        return self.folder / "tables" / f"{name}.parquet"

    @contextlib.contextmanager
    def lock(self, name: str) -> Iterator[None]:
        """Let one process at a time fetch a table; the others wait and find it kept."""
        path = self.folder / "locks" / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            file = path.open("w")
        except OSError as error:
            reason = f"{error.strerror}; set ${CACHE} to another folder"
            raise DataError(f"the cache {self.folder} cannot be written ({reason})") from error
        with file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

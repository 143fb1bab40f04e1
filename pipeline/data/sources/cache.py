"""Tables that were fetched before: one parquet file each, holding declared columns only."""

from __future__ import annotations

import contextlib
import fcntl
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pandas as pd

from pipeline.data.errors import DataError, MismatchError
from pipeline.data.sources.settings import CACHE
from pipeline.data.sources.table import check_table, read_parquet, write_parquet
from pipeline.data.spec import Table

ADVICE = f"free some space, or set ${CACHE} to another folder"


@dataclass(frozen=True)
class Cache:
    """A folder that only this package writes to."""

    name: ClassVar[str] = "cache"
    folder: Path

    def path(self, name: str) -> Path:
        """Return where a table is kept."""
        return self.folder / "tables" / f"{name}.parquet"

    def table(self, name: str, table: Table) -> pd.DataFrame | None:
        """Return a kept table; one that has gone bad is removed, so that it is fetched again."""
        return read_kept(self.path(name), name, table)

    def keep(self, name: str, frame: pd.DataFrame) -> None:
        """Keep a checked table."""
        write_parquet(frame, self.path(name), ADVICE)

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


def read_kept(path: Path, name: str, table: Table) -> pd.DataFrame | None:
    """Return a table that this package wrote, if it is there; a bad one is removed."""
    if not path.is_file():
        return None
    try:
        frame = read_parquet(path, table)
        check_table(frame, name, table, str(path))
    except DataError as error:
        path.unlink(missing_ok=True)
        raise MismatchError(f"{error}; removed it, the next call fetches it again") from error
    return frame

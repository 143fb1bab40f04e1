"""A folder with raw files, as they were published."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pandas as pd

from pipeline.data.errors import UnavailableError
from pipeline.data.sources.base import check_sha256
from pipeline.data.sources.reader import read_files
from pipeline.data.spec import Table


@dataclass(frozen=True)
class Mirror:
    """Raw files under <folder>/<dataset>/; never written to."""

    name: ClassVar[str] = "mirror"
    folder: Path

    def table(self, name: str, table: Table) -> pd.DataFrame | None:  # noqa: ARG002
        """Return the table, if all of its files are there."""
        if not table.files:
            return None
        if not self.folder.is_dir():
            raise UnavailableError(f"there is no folder {self.folder}")
        contents = []
        for file in table.files:
            path = self.folder / file.path
            if not path.is_file():
                raise UnavailableError(f"there is no {file.path} in {self.folder}")
            content = path.read_bytes()
            check_sha256(str(path), content, file.sha256)
            contents.append((file.path, content))
        return read_files(contents, table)

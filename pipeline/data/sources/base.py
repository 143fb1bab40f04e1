"""What a source is."""

from __future__ import annotations

import hashlib
from typing import ClassVar, Protocol

import pandas as pd

from pipeline.data.errors import MismatchError
from pipeline.data.spec import Table


class Source(Protocol):
    """One place a table may come from."""

    name: ClassVar[str]

    def table(self, name: str, table: Table) -> pd.DataFrame | None:
        """Return a table, or None if this source is not one of its places.

        Raises:
            UnavailableError: it is one of them, but cannot deliver now.
            DataError: what it has is not that table.
        """


def check_sha256(what: str, content: bytes, expected: str | None) -> None:
    """Raise where a raw file is not the known one; None: it is not known."""
    found = hashlib.sha256(content).hexdigest()
    if expected is not None and found != expected:
        raise MismatchError.of(f"{what}, sha256", expected, found)

"""Which columns of an own table are no features: target, group, and those to leave out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from pipeline.core.names import closest
from pipeline.data.errors import DataError
from pipeline.data.own_table.inference import check_single


def listed(value: Any) -> list[Any]:
    """Return one value, which may be a scalar of numpy, or many as a list."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        return [value]
    return list(value)


@dataclass(frozen=True)
class Roles:
    """The columns that are no features, by the names that a command line may give as numbers."""

    target: str
    group: str | None
    drop: tuple[str, ...]

    @classmethod
    def of(cls, target: object, group: object, drop: Any) -> Roles:
        """Return the roles; one column to leave out is a list of one."""
        left_out = [] if drop is None else listed(drop)
        return cls(
            str(target),
            None if group is None else str(group),
            tuple(str(name) for name in left_out),
        )

    def check(self, frame: pd.DataFrame) -> None:
        """Raise where a column is not there, or has two roles."""
        if not len(frame):
            raise DataError("there are no rows")
        left_out = (("drop", column) for column in self.drop)
        for role, column in (("target", self.target), ("group", self.group), *left_out):
            if column is not None and column not in frame.columns:
                hint = closest(column, frame.columns)
                raise DataError(f"there is no column {column!r} (dataset.{role}){hint}")
        self.check_apart()
        for column in (self.target, self.group):
            if column is not None:
                check_single(column, frame[column])

    def check_apart(self) -> None:
        """Raise where a column has two roles."""
        if self.group == self.target:
            raise DataError(f"column {self.target!r} cannot be both target and group")
        for role, column in (("target", self.target), ("group", self.group)):
            if column in self.drop:
                advice = "it is no feature; take it out of dataset.drop"
                raise DataError(f"column {column!r} is dataset.{role}: {advice}")

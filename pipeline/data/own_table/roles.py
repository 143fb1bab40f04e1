"""Which columns of an own table are no features: the target with its labels, the group, others.

A target may be a name or an income by mistake: messages list its values only if they are few and
none of them tells of a single row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from pipeline.core.near_misses import closest
from pipeline.data.dataset import labels_of, may_be_shown, refuse_missing
from pipeline.data.encode.categories import text_codes
from pipeline.data.encode.kinds import FloatArray, shown
from pipeline.data.errors import DataError
from pipeline.data.own_table.inference import check_single, tidy
from pipeline.data.own_table.table_file import check_there
from pipeline.data.spec import Label

Value = str | int | float | bool
SHOWN = 8


def listed(value: Any) -> list[Any]:
    """Return one value, which may be a scalar of numpy, or many as a list; None as none."""
    if value is None:
        return []
    return list(value) if isinstance(value, Iterable) and not isinstance(value, str) else [value]


@dataclass(frozen=True)
class Roles:
    """The columns that are no features, by the names that a command line may give as numbers."""

    target: str
    group: str | None
    drop: tuple[str, ...]

    @classmethod
    def of(cls, target: object, group: object, drop: Any) -> Roles:
        """Return the roles; a column with two of them is an error."""
        group = None if group is None else str(group)
        roles = cls(str(target), group, tuple(map(str, listed(drop))))
        if roles.group == roles.target:
            raise DataError(f"column {roles.target!r} cannot be both target and group")
        for role, column in (("target", roles.target), ("group", roles.group)):
            if column in roles.drop:
                advice = "it is no feature; take it out of dataset.drop"
                raise DataError(f"column {column!r} is dataset.{role}: {advice}")
        return roles

    def check(self, frame: pd.DataFrame) -> None:
        """Raise where a column is not there, or holds no single values."""
        if not len(frame):
            raise DataError("there are no rows")
        names = list(frame.columns)
        for role, columns in (("target", [self.target]), ("group", listed(self.group))):
            check_there(role, columns, names)
            for column in columns:
                check_single(column, frame[column])
        check_there("drop", self.drop, names)


def own_labels(
    values: pd.Series,
    target: str,
    positive: Value | Sequence[Value] | None,
    negative: Value | Sequence[Value] | None,
    above: float | None,
) -> tuple[FloatArray, str]:
    """Return y and the line that says which label is which."""
    refuse_missing(values, target)
    if pd.api.types.is_float_dtype(values) and np.isinf(values.to_numpy(np.float64)).any():
        raise DataError(f"target {target!r} holds infinite numbers; correct them")
    if above is not None:
        try:
            above = float(str(above))
        except ValueError:
            raise DataError(f"dataset.above={above} is not a number") from None
        y = labels_of(tidy(target, values)[0].to_frame(target), Label(target, above=above))
        return y, _label_note(target, f"above {shown(above)}", f"up to {shown(above)}", y)
    codes, levels = text_codes(values)  # as on a command line: 1.0 is "1", True is "True"
    texts = pd.Series(pd.Categorical.from_codes(codes, levels))
    listable = may_be_shown(texts)
    ones = _ones(levels, listable, target, positive)
    zeros = None if negative is None else _as_written(negative, levels)
    y = labels_of(texts.to_frame(target), Label(target, ones, zeros))
    others = [level for level in levels if level not in ones]
    shown_others = some(others) if listable else f"{len(others):,} other values"
    return y, _label_note(target, ", ".join(ones), shown_others, y)


def _ones(
    levels: list[str], listable: bool, target: str, positive: Value | Sequence[Value] | None
) -> list[str]:
    """Return the values of label 1, checked to be there."""
    if positive is None:
        if set(levels) <= {"0", "1"} or set(levels) <= {"-1", "1"}:
            return ["1"]
        if set(levels) <= {"True", "False"}:
            return ["True"]
        advice = "say which is label 1 with dataset.positive=… (or dataset.above=… for numbers)"
        found = f"the values {some(levels)}" if listable else f"{len(levels):,} distinct values"
        raise DataError(f"target {target!r} has {found}; {advice}")
    wanted = _as_written(positive, levels)
    for value in wanted:
        if value not in levels:
            hint = closest(value, levels) if listable else f", of {len(levels):,} distinct values"
            raise DataError(f"no row has {value!r} (dataset.positive) in target {target!r}{hint}")
    return wanted


def _as_written(given: Value | Sequence[Value], levels: Sequence[str]) -> list[str]:
    """Return values as the column writes them: YAML reads a plain yes as true."""
    alike = {"true": ("true", "yes", "y", "on"), "false": ("false", "no", "n", "off")}
    written = []
    for value in map(shown, listed(given)):
        found = [level for level in levels if level.lower() in alike.get(value.lower(), ())]
        written.append(found[0] if len(found) == 1 and value not in levels else value)
    return written


def some(levels: Sequence[str]) -> str:
    """Return a few of many names."""
    more = f" and {len(levels) - SHOWN:,} more" if len(levels) > SHOWN else ""
    return f"{', '.join(levels[:SHOWN])}{more}"


def _label_note(target: str, ones: str, zeros: str, y: FloatArray) -> str:
    return f"label 1: {target} = {ones} ({y.mean():.1%} of {len(y):,} rows); label 0: {zeros}"

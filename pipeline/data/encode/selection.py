"""Which rows enter, and which of them have label 1."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pipeline.data.encode.kinds import numbers, shown
from pipeline.data.errors import DataError
from pipeline.data.spec import Condition, Label

MOST_SHOWN = 10


def keep_rows(frame: pd.DataFrame, conditions: Sequence[Condition]) -> pd.DataFrame:
    """Return the rows that meet every condition, in their order."""
    kept = np.ones(len(frame), dtype=bool)
    for condition in conditions:
        if condition.column not in frame.columns:
            raise DataError(f"a row filter names column {condition.column!r}, which is not there")
        kept &= _meets(frame[condition.column], condition)
    return frame[kept].reset_index(drop=True)


def _meets(values: pd.Series, condition: Condition) -> NDArray[np.bool_]:
    met: NDArray[np.bool_] = values.notna().to_numpy()
    if condition.one_of is not None:
        met = met & values.isin(condition.one_of).to_numpy()
    if condition.none_of is not None:
        met = met & ~values.isin(condition.none_of).to_numpy()
    if condition.between is not None:
        low, high = condition.between
        met = met & values.between(low, high).to_numpy()
    return met


def labels_of(frame: pd.DataFrame, label: Label) -> NDArray[np.float64]:
    """Return y, 0/1; a label that is missing, unknown, or the same everywhere is an error."""
    if label.column not in frame.columns:
        raise DataError(f"there is no target column {label.column!r}")
    values = frame[label.column]
    if values.isna().any():
        raise DataError(f"target {label.column!r} is missing in {int(values.isna().sum())} rows")
    if label.above is not None:
        y = numbers(label.column, values) > label.above
    else:
        y = _named(values, label)
    if y.all() or not y.any():
        raise DataError(
            f"target {label.column!r} has one class only: {len(y)} rows, {y.sum()} of label 1"
        )
    return y.astype(np.float64)


def may_be_shown(values: pd.Series) -> bool:
    """Return whether a message may list the values: few, and none that tells of a single row."""
    counts = values.value_counts()
    counts = counts[counts > 0]
    return len(counts) <= MOST_SHOWN and bool((counts > 1).all())


def _named(values: pd.Series, label: Label) -> NDArray[np.bool_]:
    positive, negative = label.positive or [], label.negative
    y: NDArray[np.bool_] = values.isin(positive).to_numpy()
    if negative is not None:
        unknown = values[~y & ~values.isin(negative).to_numpy()].unique()
        if len(unknown):
            known = ", ".join(map(shown, [*positive, *negative]))
            found = f"unknown value {shown(unknown[0])!r}"
            if not may_be_shown(values):
                found = f"unknown values: {len(unknown):,}"
            raise DataError(f"target {label.column!r}: {found}; known: {known}")
    return y

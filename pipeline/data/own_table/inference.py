"""Which kind a column of an unknown table is, and a line that says so.

- numbers: standardised, missing ones become the column's mean; whole numbers with few distinct
  values are one-hot, like text;
- text: one-hot, missing values a category of their own; beyond ``max_categories`` the most
  frequent ones, and the other rows are in none;
- dates and durations: in days, dates since 1970, standardised;
- left out: columns that are constant or empty, texts that differ in every row (an id, a name),
  and a column that numbers the rows.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from functools import partial
from numbers import Number

import numpy as np
import pandas as pd

from pipeline.data.encode.categories import one_hot
from pipeline.data.encode.kinds import Kind, standardised
from pipeline.data.errors import DataError

HEAD = 1000
TEXT, NUMBER, DATE, DURATION = "text", "number", "date", "duration"
DAY = pd.Timedelta(days=1)
START = pd.Timestamp(0, unit="s", tz="UTC")  # in seconds, to reach years beyond 2262


@dataclass(frozen=True)
class Guess:
    """What a column is taken for: its values as numbers or categories, the kind, the reason.

    A column of no kind is left out.
    """

    values: pd.Series
    kind: Kind | None
    note: str


def guess(column: str, values: pd.Series, max_levels: int, max_categories: int) -> Guess:
    """Return what a column is taken for.

    Args:
        column: its name.
        values: its values.
        max_levels: whole numbers with at most that many distinct values are one-hot.
        max_categories: at most that many columns for a text.
    """
    values, what = tidy(column, values)
    missing = int(values.isna().sum())
    if what == TEXT:
        return Guess(values, *_text_kind(values, missing, max_categories))
    return Guess(values, *_number_kind(values, what, missing, max_levels))


def tidy(column: str, values: pd.Series) -> tuple[pd.Series, str]:
    """Return values as numbers, or as categories, and what they were."""
    kinds = pd.api.types
    if isinstance(values.dtype, pd.CategoricalDtype):
        levels = values.cat.categories
        if levels.inferred_type in ("string", "empty"):
            return values, TEXT
        values = values.astype(np.float64 if kinds.is_numeric_dtype(levels) else levels.dtype)
    if kinds.is_bool_dtype(values):
        return values.map({True: "True", False: "False"}).astype("category"), TEXT
    if kinds.is_timedelta64_dtype(values):
        return (values / DAY).astype(np.float64), DURATION
    if kinds.is_datetime64_any_dtype(values):
        days = (values - pd.Timestamp(0, tz=values.dt.tz)) / DAY
        return days.astype(np.float64), DATE
    if kinds.is_complex_dtype(values):
        raise DataError(f"column {column!r} holds complex numbers")
    if kinds.is_numeric_dtype(values):
        return values, NUMBER
    return _tidy_objects(column, values)


def _tidy_objects(column: str, values: pd.Series) -> tuple[pd.Series, str]:
    present = values.dropna()
    if values.dtype == object:
        check_single(column, present)
        if len(present) and all(_is_number(value) for value in present):
            return present.astype(np.float64).reindex(values.index), NUMBER
        if len(present) and all(isinstance(value, datetime.date) for value in present):
            days = (pd.to_datetime(present, utc=True) - START) / DAY
            return days.astype(np.float64).reindex(values.index), DATE
        values = present.map(str).reindex(values.index)
    return values.astype("category"), TEXT


def check_single(column: str, values: pd.Series) -> None:
    """Raise where values are lists or the like."""
    held = values.dtype == object
    if held and any(isinstance(value, list | dict | set | np.ndarray) for value in values):
        raise DataError(f"column {column!r} holds lists, not single values; drop it")


def _is_number(value: object) -> bool:
    return isinstance(value, Number) and not isinstance(value, bool | np.bool_)


def _text_kind(values: pd.Series, missing: int, most: int) -> tuple[Kind | None, str]:
    counts = values.value_counts(sort=True)
    counts = counts[counts > 0]
    if len(counts) + bool(missing) <= 1:
        return None, f"left out: {'constant' if len(counts) else 'empty'}"
    if len(counts) == len(values) - missing and len(counts) > 2:
        return None, f"left out: a text that differs in every row{_like_numbers(counts)}"
    own = f", {_rows(missing)} without a value a category" if missing else ""
    if len(counts) <= most:
        return one_hot, f"text: one-hot, {len(counts)} categories{own}"
    by_count = sorted(counts.index, key=lambda name: (-counts[name], name))
    kept = sorted(by_count[:most])
    rest = _rows(int(counts.drop(kept).sum()))
    note = f"text: one-hot, {len(kept)} most frequent of {len(counts)} categories, {rest} in none"
    return partial(one_hot, categories=kept, unseen="zeros"), f"{note}{own}{_like_numbers(counts)}"


def _like_numbers(counts: pd.Series) -> str:
    """Return a warning where most texts are numbers, so that the others are likely mistakes."""
    bad = int(pd.to_numeric(pd.Series(counts.index.astype(str)), errors="coerce").isna().sum())
    if not 0 < bad <= len(counts) // 10:
        return ""
    return f"; CHECK: all but {bad} of its values are numbers"


def _number_kind(values: pd.Series, what: str, missing: int, most: int) -> tuple[Kind | None, str]:
    levels = _levels(values, most)
    if levels is not None and len(levels) + bool(missing) <= 1:
        return None, f"left out: {'constant' if len(levels) else 'empty'}"
    if levels is not None and (
        len(levels) == 1 or (what == NUMBER and all(map(float.is_integer, levels)))
    ):
        own = f", {_rows(missing)} without a value a category" if missing else ""
        return one_hot, f"{what}: one-hot, {len(levels)} distinct values{own}"
    if not missing and _numbers_rows(values):
        return None, "left out: it numbers the rows"
    mean = f", {_rows(missing)} without a value take the mean" if missing else ""
    days = " as days since 1970" if what == DATE else ""
    return standardised, f"{what}{days}: standardised{mean}"


def _levels(values: pd.Series, most: int) -> list[float] | None:
    """Return the distinct numbers, None if there are more than ``most``."""
    if values.iloc[:HEAD].nunique() > most:
        return None
    levels = list(map(float, values.dropna().unique()))
    return None if len(levels) > most else levels


def _numbers_rows(values: pd.Series) -> bool:
    if not pd.api.types.is_integer_dtype(values) or (np.diff(values.iloc[:HEAD]) != 1).any():
        return False
    return bool((np.diff(values.to_numpy()) == 1).all())


def _rows(count: int) -> str:
    return f"{count:,} row{'' if count == 1 else 's'}"

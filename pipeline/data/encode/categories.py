"""Kinds of columns that hold categories.

An unseen category, one that is not among the declared ones, is an error that names it, unless the
kind says ``unseen: zeros``; then all columns of the feature are 0.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pipeline.data.encode.kinds import Feature, FloatArray, in_names, shown
from pipeline.data.errors import DataError

MISSING, NO_VALUE = "missing", "no value"


def missing_name(taken: Collection[str]) -> str:
    """Return what rows without a value are called: "missing", unless a value is called so."""
    others = (f"({NO_VALUE} {number})" for number in itertools.count(2))
    names = itertools.chain((MISSING, f"({NO_VALUE})"), others)
    return next(name for name in names if name not in taken)


def one_hot(
    column: str,
    values: pd.Series,
    categories: Sequence[Any] | None = None,
    missing: str = "category",
    unseen: str = "error",
) -> Feature:
    """A column of 0/1 for each category: the declared ones, or all that are there, sorted.

    Missing values are a category of their own, last, where there are any; ``missing: zeros``
    leaves them out.
    """
    known = tuple(categories or sorted_categories(column, values))
    empty = values.isna().to_numpy()
    has_missing = missing == "category" and bool(empty.any())

    def write(out: FloatArray) -> None:
        codes = category_codes(values, known)
        if unseen == "error":
            may_be_empty = has_missing or missing == "zeros"
            refuse_unseen(column, values, (codes < 0) & ~(empty & may_be_empty))
        if has_missing:
            codes = np.where(empty, len(known), codes)
        rows = np.flatnonzero(codes >= 0)
        out[rows, codes[rows]] = 1.0

    names = in_names(known)
    names += [missing_name(names)] if has_missing else []
    return Feature(tuple(f"{column}={category}" for category in names), write)


def sorted_categories(column: str, values: pd.Series) -> list[object]:
    """Return the distinct values, sorted."""
    try:
        return sorted(values.dropna().unique().tolist())
    except TypeError:
        raise DataError(f"column {column!r} mixes text and numbers") from None


def text_codes(values: pd.Series) -> tuple[NDArray[Any], list[str]]:
    """Return the place of each value's text among the distinct ones, −1 for none, and the texts.

    Values that are shown alike, such as 1 and "1", are the same.
    """
    levels = values.astype("category").cat.remove_unused_categories()
    texts = [shown(level) for level in levels.cat.categories]
    places, distinct = pd.factorize(np.array(texts, dtype=object))
    return np.append(places, -1)[levels.cat.codes.to_numpy()], distinct.tolist()


def category_codes(values: pd.Series, categories: Sequence[object]) -> NDArray[np.int64]:
    """Return the place of each value among the categories, −1 where it is not there."""
    is_coded = isinstance(values.dtype, pd.CategoricalDtype)
    try:
        known = pd.Index(categories, dtype=(values.cat.categories if is_coded else values).dtype)
    except (TypeError, ValueError):
        message = f"column {values.name!r}: the declared categories do not fit the column's type"
        raise DataError(message) from None
    return np.asarray(known.get_indexer(pd.Index(values)), dtype=np.int64)


def refuse_unseen(column: str, values: pd.Series, bad: NDArray[np.bool_]) -> None:
    """Raise where values are not among the categories."""
    if bad.any():
        value = values[bad].iloc[0]
        first = MISSING if pd.isna(value) else shown(value)
        raise DataError(
            f"column {column!r}: {bad.sum()} rows with an unseen category, the first {first!r}; "
            "declare it, or `unseen: zeros`"
        )


def ordinal(
    column: str, values: pd.Series, order: Sequence[Any] | None = None, start: int = 0
) -> Feature:
    """The place of a category in the declared order, or among the sorted ones."""
    found = order or sorted_categories(column, values)
    return mapped(column, values, {name: place for place, name in enumerate(found, start)})


def mapped(column: str, cells: pd.Series, values: Mapping[Any, float] | None = None) -> Feature:
    """The number that is declared for a category; a missing value has none."""
    known = values or {}

    def write(out: FloatArray) -> None:
        codes = category_codes(cells, tuple(known))
        refuse_unseen(column, cells, codes < 0)
        out[:, 0] = np.array([*known.values()], dtype=np.float64)[codes]

    return Feature((column,), write)

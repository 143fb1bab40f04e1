"""Kinds of columns: how the values of one raw column become columns of X.

A kind is what a config declares; fitted to a column it becomes a feature, which knows the names
of its columns and fills them. Nothing here sees a label. Means and deviations are summed exactly:
the result is the same for every order of rows, and on every machine.

An unseen category, one that was neither declared nor there when the kind was fitted, is an error
that names it, unless the kind says ``unseen: zeros``; then all columns of the feature are 0.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pipeline.data.errors import DataError
from pipeline.data.sums import exact_sum

FloatArray = NDArray[np.float64]
MISSING = "missing"


class Feature(ABC):
    """A kind fitted to a column."""

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The names of its columns of X."""

    @abstractmethod
    def fill(self, values: pd.Series, out: FloatArray) -> None:
        """Write the feature's columns of X; ``out`` is rows × names, all zero."""


class Kind(ABC):
    """What a config declares for a column."""

    kind: ClassVar[str]

    @abstractmethod
    def fit(self, column: str, values: pd.Series) -> Feature:
        """Learn what depends on the data: categories, edges, mean, deviation."""


def numbers(column: str, values: pd.Series) -> FloatArray:
    """Return a column as float64, NaN where a value is missing."""
    try:
        result: FloatArray = values.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError):
        raise DataError(f"column {column!r} holds text where numbers are declared") from None
    if np.isinf(result).any():
        raise DataError(f"column {column!r} holds {int(np.isinf(result).sum())} infinite numbers")
    return result


def shown(value: object) -> str:
    """Return a value as part of a column's name: 3.0 as "3", text as it is."""
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, int | float | np.number):
        number = float(value)
        return str(int(number)) if number.is_integer() else repr(number)
    return str(value)


@dataclass(frozen=True)
class Affine(Feature):
    """(x / divide_by − shift) / scale, rounded if asked; a missing value is ``fallback``."""

    column: str
    shift: float = 0.0
    scale: float = 1.0
    divide_by: float = 1.0
    rounded: bool = False
    fallback: float | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """One column, of the raw column's name."""
        return (self.column,)

    def fill(self, values: pd.Series, out: FloatArray) -> None:
        """Write the one column."""
        x = numbers(self.column, values)
        missing = np.isnan(x)
        if missing.any():
            if self.fallback is None:
                advice = "declare `missing: mean` to use the column's mean"
                raise DataError(f"column {self.column!r}: {missing.sum()} missing values; {advice}")
            x = np.where(missing, self.fallback, x)
        x = x / self.divide_by
        x = np.rint(x) if self.rounded else x
        out[:, 0] = (x - self.shift) / self.scale


@dataclass(frozen=True)
class Numeric(Kind):
    """x as it is, divided by a number and rounded to an integer if asked."""

    kind: ClassVar[str] = "numeric"
    divide_by: float = 1.0
    round: bool = False
    missing: Literal["error", "mean"] = "error"

    def fit(self, column: str, values: pd.Series) -> Feature:
        """Learn the mean, for missing values."""
        fallback = None if self.missing == "error" else mean_of(column, values)
        return Affine(column, divide_by=self.divide_by, rounded=self.round, fallback=fallback)


@dataclass(frozen=True)
class Centred(Kind):
    """x − mean; a missing value becomes 0 under ``missing: mean``."""

    kind: ClassVar[str] = "centred"
    missing: Literal["error", "mean"] = "error"

    def fit(self, column: str, values: pd.Series) -> Feature:
        """Learn the mean."""
        mean = mean_of(column, values)
        return Affine(column, shift=mean, fallback=None if self.missing == "error" else mean)


@dataclass(frozen=True)
class Standardised(Kind):
    """(x − mean) / sd, sd = sqrt(mean of (x − mean)²), or 1 where the column is constant."""

    kind: ClassVar[str] = "standardised"
    missing: Literal["error", "mean"] = "mean"

    def fit(self, column: str, values: pd.Series) -> Feature:
        """Learn mean and deviation from the values that are there."""
        x = present(column, values)
        mean = exact_sum(x) / len(x)
        with np.errstate(over="ignore"):
            squares = (x - mean) ** 2
        if not np.isfinite(squares).all():
            raise DataError(f"column {column!r} holds numbers too large to be standardised")
        sd = math.sqrt(exact_sum(squares) / len(x)) or 1.0
        return Affine(column, mean, sd, fallback=None if self.missing == "error" else mean)


def mean_of(column: str, values: pd.Series) -> float:
    """Return the mean of the values that are there, exactly summed."""
    x = present(column, values)
    return exact_sum(x) / len(x)


def present(column: str, values: pd.Series) -> FloatArray:
    """Return the numbers that are there, at least one."""
    x = numbers(column, values)
    missing = np.isnan(x)
    x = x[~missing] if missing.any() else x
    if not len(x):
        raise DataError(f"column {column!r} holds no values")
    return x


@dataclass(frozen=True)
class Indicators(Feature):
    """One column of 0/1 for each category."""

    column: str
    categories: tuple[object, ...]
    has_missing: bool
    missing: str
    unseen: str

    @property
    def names(self) -> tuple[str, ...]:
        """``column=category``, the missing ones last."""
        shown_all = [*map(shown, self.categories), *([MISSING] if self.has_missing else [])]
        return tuple(f"{self.column}={category}" for category in shown_all)

    def fill(self, values: pd.Series, out: FloatArray) -> None:
        """Write a 1 into the column of each row's category."""
        codes = category_codes(values, self.categories)
        missing = values.isna().to_numpy()
        known = missing & (self.has_missing or self.missing == "zeros")
        refuse_unseen(self.column, values, (codes < 0) & ~known, self.unseen)
        if self.has_missing:
            codes = np.where(missing, len(self.categories), codes)
        rows = np.flatnonzero(codes >= 0)
        out[rows, codes[rows]] = 1.0


@dataclass(frozen=True)
class OneHot(Kind):
    """A column of 0/1 for each category: the declared ones, or all that are there, sorted.

    Missing values are a category of their own, last, where there are any; ``missing: zeros``
    leaves them out.
    """

    kind: ClassVar[str] = "one_hot"
    categories: Sequence[Any] | None = None
    missing: Literal["category", "zeros"] = "category"
    unseen: Literal["error", "zeros"] = "error"

    def fit(self, column: str, values: pd.Series) -> Feature:
        """Learn the categories."""
        found = tuple(self.categories or sorted_categories(column, values))
        has_missing = self.missing == "category" and bool(values.isna().any())
        return Indicators(column, found, has_missing, self.missing, self.unseen)


def sorted_categories(column: str, values: pd.Series) -> list[object]:
    """Return the distinct values, sorted."""
    try:
        return sorted(values.dropna().unique().tolist())
    except TypeError:
        raise DataError(f"column {column!r} mixes text and numbers") from None


def category_codes(values: pd.Series, categories: Sequence[object]) -> NDArray[np.int64]:
    """Return the place of each value among the categories, −1 where it is not there."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        places = pd.Index(categories).get_indexer(pd.Index(values.dtype.categories))
        found: NDArray[np.int64] = np.append(places, -1)[values.cat.codes.to_numpy()]
        return found.astype(np.int64)
    try:
        known = pd.Index(categories, dtype=values.dtype)
    except (TypeError, ValueError):
        message = f"column {values.name!r}: the declared categories do not fit the column's type"
        raise DataError(message) from None
    codes: NDArray[np.int64] = known.get_indexer(pd.Index(values)).astype(np.int64)
    return codes


def refuse_unseen(column: str, values: pd.Series, bad: NDArray[np.bool_], unseen: str) -> None:
    """Raise where values are not among the categories, unless they may be zeros."""
    if unseen == "error" and bad.any():
        value = values[bad].iloc[0]
        first = MISSING if pd.isna(value) else shown(value)
        raise DataError(
            f"column {column!r}: {bad.sum()} rows with an unseen category, the first {first!r}; "
            "declare it, or `unseen: zeros`"
        )


@dataclass(frozen=True)
class Lookup(Feature):
    """A number for each category."""

    column: str
    categories: tuple[object, ...]
    values: tuple[float, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """One column, of the raw column's name."""
        return (self.column,)

    def fill(self, values: pd.Series, out: FloatArray) -> None:
        """Write the one column; a missing value has no number."""
        codes = category_codes(values, self.categories)
        refuse_unseen(self.column, values, codes < 0, "error")
        out[:, 0] = np.array(self.values)[codes]


@dataclass(frozen=True)
class Ordinal(Kind):
    """The place of a category in the declared order, or among the sorted ones."""

    kind: ClassVar[str] = "ordinal"
    order: Sequence[Any] | None = None
    start: int = 0

    def fit(self, column: str, values: pd.Series) -> Feature:
        """Learn the order where none is declared."""
        found = tuple(self.order or sorted_categories(column, values))
        return Lookup(column, found, tuple(float(self.start + k) for k in range(len(found))))


@dataclass(frozen=True)
class Mapped(Kind):
    """The number that is declared for a category."""

    kind: ClassVar[str] = "mapped"
    values: Mapping[Any, float] = field(default_factory=dict)

    def fit(self, column: str, values: pd.Series) -> Feature:  # noqa: ARG002
        """Learn nothing: the map is declared."""
        return Lookup(column, tuple(self.values), tuple(map(float, self.values.values())))

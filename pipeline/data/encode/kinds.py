"""Kinds of columns: how the values of one raw column become columns of X. Those of numbers.

A kind is what a config declares; fitted to a column it becomes a feature, which knows the names
of its columns and fills them. Nothing here sees a label. Means and deviations are summed exactly:
the result is the same for every order of rows, and on every machine.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pipeline.data.encode.sums import exact_sum
from pipeline.data.errors import DataError

FloatArray = NDArray[np.float64]


class Feature(ABC):
    """A kind fitted to a column."""

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The names of its columns of X."""

    @abstractmethod
    def write(self, values: pd.Series, out: FloatArray) -> None:
        """Write what a raw column becomes to its columns of X, which are all zero."""


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


def in_names(values: Sequence[object]) -> list[str]:
    """Return values as parts of names: fractions with six digits, or as many as they differ in."""
    for digits in range(6, 17):
        texts = [_short(value, digits) for value in values]
        if len(set(texts)) == len(values):
            return texts
    return list(map(shown, values))


def _short(value: object, digits: int) -> str:
    text = shown(value)
    if isinstance(value, float) and "." in text:
        return min(text, f"{value:.{digits}g}", key=len)
    return text


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

    def write(self, values: pd.Series, out: FloatArray) -> None:
        """Write the one column."""
        x = numbers(self.column, values)
        missing = np.isnan(x)
        if missing.any():
            if self.fallback is None:
                advice = "declare `missing: mean` to use the column's mean"
                count = int(missing.sum())
                raise DataError(f"column {self.column!r}: {count} missing values; {advice}")
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
        mean = _mean(column, x)
        with np.errstate(over="ignore"):  # _mean refuses what is infinite
            squares = (x - mean) ** 2
        sd = math.sqrt(_mean(column, squares)) or 1.0
        return Affine(column, mean, sd, fallback=None if self.missing == "error" else mean)


def mean_of(column: str, values: pd.Series) -> float:
    """Return the mean of the values that are there, exactly summed."""
    return _mean(column, present(column, values))


def _mean(column: str, x: FloatArray) -> float:
    try:
        mean = exact_sum(x) / len(x)
    except OverflowError:
        mean = math.inf
    if not math.isfinite(mean):
        raise DataError(f"column {column!r} holds numbers too large to be standardised")
    return mean


def present(column: str, values: pd.Series) -> FloatArray:
    """Return the numbers that are there, at least one."""
    x = numbers(column, values)
    missing = np.isnan(x)
    x = x[~missing] if missing.any() else x
    if not len(x):
        raise DataError(f"column {column!r} holds no values")
    return x

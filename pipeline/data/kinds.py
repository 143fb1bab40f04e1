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
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pipeline.data.errors import DataError
from pipeline.data.sums import exact_sum, exact_sum_of_squares, extent
from pipeline.data.threads import many

FloatArray = NDArray[np.float64]


class Feature(ABC):
    """A kind fitted to a column."""

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The names of its columns of X."""

    @abstractmethod
    def read(self, values: pd.Series) -> NDArray[Any]:
        """Return a raw column as numbers, or as places among the names; checked."""

    @abstractmethod
    def write(self, column: NDArray[Any], start: int, out: FloatArray) -> None:
        """Write what was read, from row ``start`` on, to X; ``out`` is rows × names, all zero."""


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

    def read(self, values: pd.Series) -> NDArray[Any]:
        """Return the numbers; integers as they are, without a copy."""
        if isinstance(values.dtype, np.dtype) and values.dtype.kind in "iu":
            integers: NDArray[Any] = values.to_numpy()
            return integers
        x = numbers(self.column, values)
        if self.fallback is None and np.isnan(x).any():
            advice = "declare `missing: mean` to use the column's mean"
            count = int(np.isnan(x).sum())
            raise DataError(f"column {self.column!r}: {count} missing values; {advice}")
        return x

    def write(self, column: NDArray[Any], start: int, out: FloatArray) -> None:
        """Write the one column."""
        x = column[start : start + len(out)]
        if many(len(column)) and self.divide_by == 1.0 and not self.rounded:
            from pipeline.data.kernels import standardise

            fallback = math.nan if self.fallback is None else self.fallback
            standardise(x, fallback, self.shift, self.scale, out[:, 0])
            return
        x = x.astype(np.float64)
        if self.fallback is not None:
            x[np.isnan(x)] = self.fallback
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
        x, ends = _present(column, values)
        low, high = ends
        mean = _mean(column, x, ends)
        farthest = max(high - mean, mean - low)
        if not math.isfinite(farthest * farthest):
            raise _too_large(column)
        sd = math.sqrt(exact_sum_of_squares(x, mean, ends) / len(x)) or 1.0
        return Affine(column, mean, sd, fallback=None if self.missing == "error" else mean)


def mean_of(column: str, values: pd.Series) -> float:
    """Return the mean of the values that are there, exactly summed."""
    return _mean(column, present(column, values))


def _mean(column: str, x: FloatArray, ends: tuple[float, float] | None = None) -> float:
    try:
        return exact_sum(x, ends) / len(x)
    except OverflowError:
        raise _too_large(column) from None


def _too_large(column: str) -> DataError:
    return DataError(f"column {column!r} holds numbers too large to be standardised")


def _present(column: str, values: pd.Series) -> tuple[FloatArray, tuple[float, float]]:
    """Return the numbers that are there and their ends; finite ends leave nothing to look for."""
    if values.dtype == np.float64 and isinstance(values.dtype, np.dtype) and len(values):
        x = values.to_numpy()
        ends = extent(x)
        if all(map(math.isfinite, ends)):
            return x, ends
    x = present(column, values)
    return x, extent(x)


def present(column: str, values: pd.Series) -> FloatArray:
    """Return the numbers that are there, at least one."""
    x = numbers(column, values)
    missing = np.isnan(x)
    x = x[~missing] if missing.any() else x
    if not len(x):
        raise DataError(f"column {column!r} holds no values")
    return x

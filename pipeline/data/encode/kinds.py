"""Kinds of columns: how the values of one raw column become columns of X. Those of numbers.

A kind is a function that a config names, with the options it declares: it fits itself to a column
and returns a feature, which knows the names of its columns and fills them. Nothing here sees a
label. Means and deviations are summed exactly: the result is the same for every order of rows, and
on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pipeline.data.errors import DataError

FloatArray = NDArray[np.float64]
CHUNK = 1 << 15
EXTRA = 16  # 2^EXTRA >= CHUNK + 2
HUGE = 2.0**900


@dataclass(frozen=True)
class Feature:
    """A kind fitted to a column.

    Attributes:
        names: of its columns of X.
        write: writes what the raw column becomes to these columns, which are all zero.
    """

    names: tuple[str, ...]
    write: Callable[[FloatArray], None]


Kind = Callable[[str, pd.Series], Feature]  # of a raw column's name and values


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
    texts = list(map(shown, values))
    for digits in range(6, 17):
        short = [
            min(text, f"{value:.{digits}g}", key=len)
            if isinstance(value, float) and "." in text
            else text
            for text, value in zip(texts, values, strict=True)
        ]
        if len(set(short)) == len(values):
            return short
    return texts


def _affine(
    column: str,
    values: pd.Series,
    shift: float = 0.0,
    scale: float = 1.0,
    fallback: float | None = None,
    divide_by: float = 1.0,
    rounded: bool = False,
) -> Feature:
    """Return (x / divide_by − shift) / scale, rounded if asked; a missing value is ``fallback``."""

    def write(out: FloatArray) -> None:
        x = numbers(column, values)
        missing = np.isnan(x)
        if missing.any():
            if fallback is None:
                advice = "declare `missing: mean` to use the column's mean"
                raise DataError(f"column {column!r}: {missing.sum()} missing values; {advice}")
            x = np.where(missing, fallback, x)
        x = x / divide_by
        out[:, 0] = ((np.rint(x) if rounded else x) - shift) / scale

    return Feature((column,), write)


def numeric(
    column: str,
    values: pd.Series,
    divide_by: float = 1.0,
    round: bool = False,
    missing: str = "error",
) -> Feature:
    """X as it is, divided by a number and rounded to an integer if asked.

    A missing value is an error, or under ``missing: mean`` the column's mean.
    """
    fallback = None if missing == "error" else _mean(column, _present(column, values))
    return _affine(column, values, fallback=fallback, divide_by=divide_by, rounded=round)


def centred(column: str, values: pd.Series, missing: str = "error") -> Feature:
    """X − mean; a missing value becomes 0 under ``missing: mean``."""
    mean = _mean(column, _present(column, values))
    return _affine(column, values, mean, fallback=None if missing == "error" else mean)


def standardised(column: str, values: pd.Series, missing: str = "mean") -> Feature:
    """(x − mean) / sd, sd = sqrt(mean of (x − mean)²), or 1 where the column is constant."""
    x = _present(column, values)
    mean = _mean(column, x)
    with np.errstate(over="ignore"):  # _mean refuses what is infinite
        squares = (x - mean) ** 2
    sd = math.sqrt(_mean(column, squares)) or 1.0
    return _affine(column, values, mean, sd, fallback=None if missing == "error" else mean)


def _present(column: str, values: pd.Series) -> FloatArray:
    """Return the numbers that are there, at least one."""
    x = numbers(column, values)
    x = x[~np.isnan(x)]
    if not len(x):
        raise DataError(f"column {column!r} holds no values")
    return x


def _mean(column: str, x: FloatArray) -> float:
    try:
        mean = exact_sum(x) / len(x)
    except OverflowError:
        mean = math.inf
    if not math.isfinite(mean):
        raise DataError(f"column {column!r} holds numbers too large to be standardised")
    return mean


def exact_sum(x: FloatArray) -> float:
    """Return Σx, correctly rounded: as math.fsum, but fast.

    By ExtractVector of Rump, Ogita & Oishi (SIAM J. Sci. Comput. 31(1), 2008): with σ = 2^EXTRA
    times a power of two above all |x|, q = (σ + x) − σ are the leading bits of x; these and the
    rest x − q are exact, and so is Σq in floating point. Repeat with the rest until it is 0.
    """
    parts: list[float] = []
    for start in range(0, len(x), CHUNK):
        rest = x[start : start + CHUNK]
        while largest := float(np.abs(rest).max()):
            if largest > HUGE:
                parts.extend(rest.tolist())
                break
            sigma = math.ldexp(1.0, math.frexp(largest)[1] + EXTRA)
            leading = (rest + sigma) - sigma
            parts.append(float(leading.sum()))
            rest = rest - leading
    return math.fsum(parts)


def bucket(
    column: str,
    values: pd.Series,
    edges: Sequence[float] = (),
    quantiles: Sequence[float] = (),
    first_rows: int | None = None,
    labels: Sequence[str] | None = None,
    cumulative: bool = False,
) -> Feature:
    """Columns of 0/1 for (e₀, e₁], (e₁, e₂], …; a value outside all of them is in none.

    Args:
        column: its name.
        values: its values.
        edges: numbers; edges may be declared, quantiles, or both.
        quantiles: shares, each an edge at that quantile of the column (linear interpolation).
        first_rows: take the quantiles of that many first rows only.
        labels: names of the buckets, in place of the intervals.
        cumulative: a column is 1 for the rows of its own and of every higher bucket.
    """
    x = numbers(column, values.iloc[:first_rows])
    found = np.quantile(x[~np.isnan(x)], np.array(quantiles)) if quantiles else ()
    ends = sorted([*map(float, edges), *map(float, found)])
    if len(ends) < 2 or len(set(ends)) < len(ends):
        problem = f"bucket edges must be two or more and differ: {tuple(ends)}"
        raise DataError(f"column {column!r}: {problem}")
    if labels is not None and len(labels) != len(ends) - 1:
        raise DataError(f"column {column!r}: {len(labels)} labels for {len(ends) - 1} buckets")

    def write(out: FloatArray) -> None:
        x = numbers(column, values)
        place = np.searchsorted(ends, x, side="left") - 1
        place[np.isnan(x) | (x > ends[-1])] = -1  # a missing value is in no bucket
        for number in range(len(ends) - 1):
            out[:, number] = place >= number if cumulative else place == number

    return Feature(tuple(f"{column}{name}" for name in _intervals(ends, labels, cumulative)), write)


def _intervals(ends: list[float], labels: Sequence[str] | None, cumulative: bool) -> list[str]:
    """Return `` in (17, 28]``, `` > 17`` if cumulative, or the declared labels."""
    if labels is not None:
        return [f"={label}" for label in labels]
    if cumulative:
        return [f" > {low}" for low in in_names(ends)[:-1]]
    return [f" in ({low}, {high}]" for low, high in pairwise(in_names(ends))]

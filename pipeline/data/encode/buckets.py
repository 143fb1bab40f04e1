"""Buckets: a number becomes the interval it falls into."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np
import pandas as pd

from pipeline.data.encode.kinds import Feature, FloatArray, Kind, in_names, numbers
from pipeline.data.errors import DataError


@dataclass(frozen=True)
class Intervals(Feature):
    """Columns of 0/1 for (e₀, e₁], (e₁, e₂], …; a value outside all of them is in none."""

    column: str
    edges: tuple[float, ...]
    labels: tuple[str, ...] | None
    cumulative: bool

    @property
    def names(self) -> tuple[str, ...]:
        """``column in (17, 28]``, ``column > 17`` if cumulative, or the declared labels."""
        if self.labels is not None:
            return tuple(f"{self.column}={label}" for label in self.labels)
        if self.cumulative:
            return tuple(f"{self.column} > {low}" for low in in_names(self.edges)[:-1])
        pairs = pairwise(in_names(self.edges))
        return tuple(f"{self.column} in ({low}, {high}]" for low, high in pairs)

    def write(self, values: pd.Series, out: FloatArray) -> None:
        """Write the columns; a missing value is in no bucket, −1."""
        x = numbers(self.column, values)
        bucket = np.searchsorted(self.edges, x, side="left") - 1
        bucket[np.isnan(x) | (x > self.edges[-1])] = -1
        for place in range(len(self.edges) - 1):
            out[:, place] = bucket >= place if self.cumulative else bucket == place


@dataclass(frozen=True)
class Bucket(Kind):
    """Intervals, open left and closed right, between edges that are declared, quantiles, or both.

    Attributes:
        edges: numbers.
        quantiles: shares, each an edge at that quantile of the column (linear interpolation).
        first_rows: take the quantiles of that many first rows only.
        labels: names of the buckets, in place of the intervals.
    """

    kind: ClassVar[str] = "bucket"
    cumulative: ClassVar[bool] = False
    edges: Sequence[float] = ()
    quantiles: Sequence[float] = ()
    first_rows: int | None = None
    labels: Sequence[str] | None = None

    def fit(self, column: str, values: pd.Series) -> Feature:
        """Learn the edges that are quantiles."""
        x = numbers(column, values.iloc[: self.first_rows])
        found = np.quantile(x[~np.isnan(x)], np.array(self.quantiles)) if self.quantiles else ()
        edges = tuple(sorted([*map(float, self.edges), *map(float, found)]))
        self._check(column, edges)
        labels = None if self.labels is None else tuple(self.labels)
        return Intervals(column, edges, labels, self.cumulative)

    def _check(self, column: str, edges: tuple[float, ...]) -> None:
        if len(edges) < 2 or len(set(edges)) < len(edges):
            raise DataError(
                f"column {column!r}: bucket edges must be two or more and differ: {edges}"
            )
        if self.labels is not None and len(self.labels) != len(edges) - 1:
            counts = f"{len(self.labels)} labels for {len(edges) - 1} buckets"
            raise DataError(f"column {column!r}: {counts}")


@dataclass(frozen=True)
class CumulativeBucket(Bucket):
    """Buckets whose column is 1 for the rows of its own and of every higher bucket."""

    kind: ClassVar[str] = "cumulative_bucket"
    cumulative: ClassVar[bool] = True

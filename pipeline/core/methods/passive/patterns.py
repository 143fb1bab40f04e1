"""The finite class of Algorithm 1: one β for each decision pattern on the first K rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from pipeline.core.kernels.rows import FloatArray
from pipeline.core.methods.passive.arrangement import (
    affine_cells,
    affine_count,
    central_cells,
    central_count,
)

# Every pattern is enumerated up to these. The dimension is that of the arrangement, which is one
# less than the columns where all hyperplanes meet in one point: d ≤ 4 with or without an intercept,
# d ≤ 5 with z = 0 and none. In four dimensions K may be 56, or 48 where they meet.
MAX_DIMENSION = 4
MAX_PATTERNS = 400_000


class Thresholds(NamedTuple):
    """Rules x'β ≥ z on some rows; with an intercept the last column is constant."""

    rows: FloatArray
    z: float
    intercept: bool

    @property
    def central(self) -> bool:
        """Whether z can be taken into β, or is 0: all hyperplanes then meet in one point."""
        return self.intercept or self.z == 0.0


class Patterns(Protocol):
    """Builds the class."""

    def check(self, n: int, n_columns: int, *, central: bool) -> None:
        """Refuse n rows that have too many patterns."""

    def representatives(self, rules: Thresholds) -> FloatArray:
        """Return the β of the class, one a row."""


def pattern_count(n: int, n_columns: int, *, central: bool) -> int:
    """Return how many open patterns n rows in general position have.

    Three cases: z = 0 without an intercept is Cover's count in d dimensions; z ≠ 0 without one is
    the count of an affine arrangement in d; with an intercept z does not matter, and it is Cover's
    count in d + 1, the number of columns with the constant one.
    """
    return central_count(n, n_columns) if central else affine_count(n, n_columns)


@dataclass(frozen=True)
class AllPatterns:
    """The whole class, by enumeration."""

    def check(self, n: int, n_columns: int, *, central: bool) -> None:
        """Refuse what would take too long.

        Hyperplanes that meet in one point are enumerated on one of them, a dimension lower: five
        columns, be one of them constant or z = 0, cost what four cost otherwise.
        """
        count = pattern_count(n, n_columns, central=central)
        if n_columns - central > MAX_DIMENSION:
            what = f"{n_columns} columns are too many to enumerate every decision pattern"
        elif count > MAX_PATTERNS:
            what = f"K = {n} rows have up to {count} decision patterns, more than {MAX_PATTERNS}"
        else:
            return
        raise ValueError(f"passive: {what}; use method=passive_cover, an approximation")

    def representatives(self, rules: Thresholds) -> FloatArray:
        """Return one β for each pattern."""
        if not rules.central:
            return affine_cells(rules.rows, np.full(len(rules.rows), rules.z))
        cells = central_cells(rules.rows)
        if rules.intercept:
            cells[:, -1] += rules.z
            return cells
        # With z = 0 the tie at β = 0 accepts every row, which may be a pattern of its own.
        return np.concatenate([np.zeros((1, cells.shape[1])), cells])


@dataclass(frozen=True)
class SomePatterns:
    """A random cover: as many β as asked for, each with chosen decisions on a few rows.

    A β is the shortest that puts some rows, as many as there are columns and drawn at random, a
    unit above or below the threshold, by the toss of a coin. Its other decisions follow.
    """

    n: int
    seed: int

    def check(self, n: int, n_columns: int, *, central: bool) -> None:
        """Refuse nothing."""

    def representatives(self, rules: Thresholds) -> FloatArray:
        """Return n random β."""
        rng = np.random.default_rng(self.seed)
        size = min(rules.rows.shape)
        drawn = np.empty((self.n, rules.rows.shape[1]))
        for k in range(self.n):
            some = rng.choice(len(rules.rows), size, replace=False)
            wanted = rules.z + rng.choice([-1.0, 1.0], size)
            drawn[k] = np.linalg.lstsq(rules.rows[some], wanted, rcond=None)[0]
        return drawn

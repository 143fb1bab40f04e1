"""The finite class of Algorithm 1: one β for each decision pattern on the first K rows.

Row i and threshold z cut the space of β in two: x_i'β ≥ z, or not. K rows make an arrangement of
hyperplanes; two β decide alike on all rows if and only if they lie in the same cell of it. So a
point in each cell is a representative of each pattern.

The cells are found one hyperplane at a time: those that hyperplane i cuts in two are the cells of
the arrangement that hyperplanes 1 … i−1 make *on* it, one dimension lower; a small step to both
sides of each gives the two halves. All others stay as they were.
"""

from __future__ import annotations

from math import comb

import numpy as np
from numpy.typing import NDArray

from pipeline.core.kernels.rows import FloatArray

# Every pattern is enumerated up to these. The dimension is that of the arrangement, which is one
# less than the columns where all hyperplanes meet in one point: d ≤ 4 with or without an intercept,
# d ≤ 5 with z = 0 and none. In four dimensions K may be 56, or 48 where they meet.
MAX_DIMENSION = 4
MAX_PATTERNS = 400_000
# Rows are scaled to length 1. What is smaller than this is rounding.
TOLERANCE = 1e-14


def pattern_count(n: int, n_columns: int, *, central: bool) -> int:
    """Return how many open patterns n rows in general position have.

    Three cases: z = 0 without an intercept is Cover's count in d dimensions; z ≠ 0 without one is
    the count of an affine arrangement in d; with an intercept z does not matter, and it is Cover's
    count in d + 1, the number of columns with the constant one.
    """
    return central_count(n, n_columns) if central else affine_count(n, n_columns)


def check_size(n: int, n_columns: int, *, central: bool) -> None:
    """Refuse n rows whose patterns would take too long to enumerate.

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


def all_patterns(rows: FloatArray, z: float, *, intercept: bool) -> FloatArray:
    """Return one β for each pattern of x'β ≥ z; with an intercept the last column is constant."""
    if z != 0.0 and not intercept:
        return affine_cells(rows, np.full(len(rows), z))
    cells = central_cells(rows)
    if intercept:
        cells[:, -1] += z
        return cells
    # With z = 0 the tie at β = 0 accepts every row, which may be a pattern of its own.
    return np.concatenate([np.zeros((1, rows.shape[1])), cells])


def some_patterns(rows: FloatArray, z: float, n: int, seed: int) -> FloatArray:
    """Return a random cover: n β, each with chosen decisions x'β ≥ z on a few rows.

    A β is the shortest that puts some rows, as many as there are columns and drawn at random, a
    unit above or below the threshold, by the toss of a coin. Its other decisions follow.
    """
    rng = np.random.default_rng(seed)
    size = min(rows.shape)
    drawn = np.empty((n, rows.shape[1]))
    for k in range(n):
        some = rng.choice(len(rows), size, replace=False)
        wanted = z + rng.choice([-1.0, 1.0], size)
        drawn[k] = np.linalg.lstsq(rows[some], wanted, rcond=None)[0]
    return drawn


def affine_cells(A: FloatArray, b: FloatArray) -> FloatArray:
    """Return a point of each cell of the hyperplanes {β: a_i'β = b_i}, one a row.

    Cells are open: a pattern that needs a tie a_i'β = b_i is none of them.
    """
    length = np.linalg.norm(A, axis=1)
    cuts = length > 0.0  # a row of zeros is decided the same by every β
    return _cells(A[cuts] / length[cuts, None], b[cuts] / length[cuts])


def central_cells(A: FloatArray) -> FloatArray:
    """Return a point of each cell of the hyperplanes {β: a_i'β = 0}, one a row.

    With β also −β is a cell, on the other side of the first hyperplane. So the cells are those
    that the others make on {a_1'β = 1}, and their mirror images.
    """
    length = np.linalg.norm(A, axis=1)
    unit = A[length > 0.0] / length[length > 0.0, None]
    if len(unit) == 0:
        return np.zeros((1, A.shape[1]))
    one_side = _cells_on(unit[0], 1.0, unit[1:], np.zeros(len(unit) - 1))
    return np.concatenate([one_side, -one_side])


def affine_count(n: int, d: int) -> int:
    """Return the cells of n hyperplanes in general position in R^d: Σ_{k ≤ d} C(n, k)."""
    return sum(comb(n, k) for k in range(d + 1))


def central_count(n: int, d: int) -> int:
    """Return Cover's count for n hyperplanes through 0 in R^d: 2·Σ_{k < d} C(n − 1, k)."""
    return 2 * affine_count(n - 1, d - 1) if n > 0 else 1


def _cells(A: FloatArray, b: FloatArray) -> FloatArray:
    """Return a point of each cell; rows of A have length 1."""
    d = A.shape[1]
    if d == 0:
        return np.zeros((1, 0))
    if d == 1:
        return _intervals(A[:, 0], b)
    found = [np.zeros((1, d))]
    for i in range(len(A)):
        cut = _cells_on(A[i], b[i], A[:i], b[:i])
        found.append(_both_sides(cut, A[i], A[:i], b[:i]))
    return _one_a_cell(np.concatenate(found), A, b)


def _cells_on(a: FloatArray, offset: float, A: FloatArray, b: FloatArray) -> FloatArray:
    """Return a point of each cell that hyperplanes make on {β: a'β = offset}, ‖a‖ = 1.

    Coordinates on it start at the point next to 0; their orthonormal basis is that of the
    reflection which takes a to an axis.
    """
    axis = int(np.argmax(np.abs(a)))
    mirror = a.copy()
    mirror[axis] += np.copysign(1.0, a[axis])
    basis = np.eye(len(a)) - np.outer(mirror, mirror) * (2.0 / (mirror @ mirror))
    inside, foot = np.delete(basis, axis, axis=1), offset * a
    lower, rest = A @ inside, b - A @ foot
    length = np.sqrt(np.einsum("ij,ij->i", lower, lower))
    cuts = length > TOLERANCE  # the others are parallel to it
    return foot + _cells(lower[cuts] / length[cuts, None], rest[cuts] / length[cuts]) @ inside.T


def _intervals(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return a point of each interval between the numbers b_i/a_i."""
    ends = np.sort(b / a)
    if len(ends) == 0:
        return np.zeros((1, 1))
    apart = np.diff(ends) > TOLERANCE * (1.0 + np.abs(ends[1:]))
    ends = np.concatenate([ends[:1], ends[1:][apart]])
    middles = (ends[1:] + ends[:-1]) / 2.0
    return np.concatenate([ends[:1] - 1.0, middles, ends[-1:] + 1.0])[:, None]


def _both_sides(points: FloatArray, a: FloatArray, A: FloatArray, b: FloatArray) -> FloatArray:
    """Step off the hyperplane of a in both directions, half way to the next hyperplane of A."""
    slack = points @ A.T - b
    speed = np.abs(A @ a)
    in_the_way = _is_off(slack, points, b) & (speed > TOLERANCE)
    time = np.divide(np.abs(slack), speed, out=np.full(slack.shape, np.inf), where=in_the_way)
    step = np.minimum(time.min(axis=1, initial=np.inf) / 2.0, 1.0)[:, None] * a
    return np.concatenate([points + step, points - step])


def _is_off(slack: FloatArray, points: FloatArray, b: FloatArray) -> NDArray[np.bool_]:
    """Tell which points are further from which hyperplanes than rounding explains."""
    size = 1.0 + np.abs(b) + np.linalg.norm(points, axis=1)[:, None]
    off: NDArray[np.bool_] = np.abs(slack) > TOLERANCE * size
    return off


def _one_a_cell(points: FloatArray, A: FloatArray, b: FloatArray) -> FloatArray:
    """Return the first point of each cell, in the order of their patterns."""
    if len(A) == 0:
        return points[:1]
    slack = points @ A.T - b
    inner = _is_off(slack, points, b).all(axis=1)
    patterns = np.packbits(slack[inner] > 0.0, axis=1)
    keys = patterns.view(np.dtype((np.void, patterns.shape[1]))).ravel()
    first: FloatArray = points[inner][np.unique(keys, return_index=True)[1]]
    return first

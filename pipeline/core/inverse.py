"""A = diag(penalty) + Σ x x' and its inverse under rank-one growth.

The inverse follows Sherman and Morrison (1950): A⁻¹ ← A⁻¹ − u u'/(1 + s), u = A⁻¹x, s = x'u.
Two things are added to the textbook:

* A few such terms wait in ``U`` (A⁻¹ = P − Σ u u') and are applied together, because one pass
  over P for sixteen terms costs little more than a pass for one.
* Each term loses about (1 + s)·ε of relative accuracy. That loss is summed in ``drift``; past a
  limit the inverse is computed afresh from A, which is kept for the purpose. Since
  Σ log(1 + s) = log det A grows with log t only, large s are rare and so are fresh starts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.core.cholesky import add_gram, factor, invert, mirror
from pipeline.core.jit import inlined, jit
from pipeline.core.rows import FloatArray, add_outer, dot, quadratic, times

# How much drift a column is allowed before A is factorised again.
DRIFT_PER_COLUMN = 32.0


class Inverse(NamedTuple):
    """A and A⁻¹ as kernels see them: arrays only, changed in place."""

    A: FloatArray
    P: FloatArray
    U: FloatArray
    V: FloatArray
    W: FloatArray
    L: FloatArray
    penalty: FloatArray
    pending: NDArray[np.int64]
    drift: FloatArray


def make_inverse(penalty: FloatArray) -> Inverse:
    """Start at A = diag(penalty); call :func:`refactorise` before use."""
    d = len(penalty)
    block = 1 if d < 32 else 8 if d < 96 else 16
    square = [np.zeros((d, d)) for _ in range(4)]
    A, P, W, L = square
    A[np.diag_indices(d)] = penalty
    U, V = np.zeros((block, d)), np.zeros((block, d))
    return Inverse(A, P, U, V, W, L, penalty.copy(), np.zeros(1, np.int64), np.zeros(1))


def copy_inverse(inverse: Inverse) -> Inverse:
    """Return an independent copy; the scratch space is not worth copying."""
    scratch = {name: np.empty_like(getattr(inverse, name)) for name in ("W", "L")}
    kept = {name: value.copy() for name, value in inverse._asdict().items() if name not in scratch}
    return Inverse(**kept, **scratch)


@inlined
def square_width(inverse, rows, i):
    """Return x'A⁻¹x ≥ 0."""
    s = quadratic(rows, i, inverse.P)
    for m in range(inverse.pending[0]):
        c = dot(rows, i, inverse.U[m])
        s -= c * c
    return max(s, 0.0)


@inlined
def apply(inverse, rows, i, u):
    """Set u = A⁻¹x and return s = x'A⁻¹x ≥ 0."""
    times(rows, i, inverse.P, u)
    U, pending = inverse.U, inverse.pending[0]
    m = 0
    while m + 4 <= pending:
        v0, v1, v2, v3 = U[m], U[m + 1], U[m + 2], U[m + 3]
        c0, c1 = dot(rows, i, v0), dot(rows, i, v1)
        c2, c3 = dot(rows, i, v2), dot(rows, i, v3)
        for j in range(u.shape[0]):
            u[j] -= c0 * v0[j] + c1 * v1[j] + c2 * v2[j] + c3 * v3[j]
        m += 4
    while m < pending:
        v = U[m]
        c = dot(rows, i, v)
        for j in range(u.shape[0]):
            u[j] -= c * v[j]
        m += 1
    return max(dot(rows, i, u), 0.0)


@jit
def _settle_gram(inverse, rows):
    """Add the waiting dense rows to A (sparse ones are there already)."""
    if rows.indptr.shape[0] == 0:
        add_gram(inverse.A, inverse.V, inverse.pending[0], 1.0)


@jit
def add_rows(inverse, rows, ids, first, last):
    """Add Σ x x' over rows ids[first:last] to A; A⁻¹ is stale until refactorised."""
    _settle_gram(inverse, rows)
    inverse.pending[0] = 0
    for k in range(first, last):
        if rows.indptr.shape[0] > 0:
            add_outer(rows, ids[k], 1.0, inverse.A)
            continue
        for j in range(inverse.V.shape[1]):
            inverse.V[inverse.pending[0], j] = rows.X[ids[k], j]
        inverse.pending[0] += 1
        if inverse.pending[0] == inverse.V.shape[0]:
            _settle_gram(inverse, rows)
            inverse.pending[0] = 0
    _settle_gram(inverse, rows)
    inverse.pending[0] = 0


@jit
def refactorise(inverse):
    """Compute A⁻¹ from A. False if A is singular."""
    regular = factor(inverse.A, inverse.penalty, inverse.L)
    invert(inverse.L, inverse.W, inverse.P)
    inverse.pending[0] = 0
    inverse.drift[0] = 0.0
    return regular


@inlined
def grow(inverse, rows, i, u, s):
    """Add x x' to A, given u = A⁻¹x and s = x'u. True if A⁻¹ was computed afresh."""
    m = inverse.pending[0]
    scale = 1.0 / (1.0 + s) ** 0.5
    for j in range(u.shape[0]):
        inverse.U[m, j] = u[j] * scale
    if rows.indptr.shape[0] > 0:
        add_outer(rows, i, 1.0, inverse.A)
    else:
        for j in range(u.shape[0]):
            inverse.V[m, j] = rows.X[i, j]
    inverse.pending[0] = m + 1
    inverse.drift[0] += 1.0 + s
    if inverse.drift[0] > DRIFT_PER_COLUMN * u.shape[0]:
        _settle_gram(inverse, rows)
        refactorise(inverse)
        return True
    if m + 1 == inverse.U.shape[0]:
        _settle_gram(inverse, rows)
        add_gram(inverse.P, inverse.U, m + 1, -1.0)
        if rows.indptr.shape[0] > 0:
            mirror(inverse.P)
        inverse.pending[0] = 0
    return False

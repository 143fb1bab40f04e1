"""A = diag(penalty) + Σ x x' and its inverse under rank-one growth.

The inverse follows Sherman and Morrison (1950): A⁻¹ ← A⁻¹ − u u'/(1 + s), u = A⁻¹x, s = x'u.
Two things are added to the textbook:

* A few such terms wait in ``U`` (A⁻¹ = P − Σ u u') and are applied together, because one pass
  over P for sixteen terms costs little more than a pass for one.
* Each term loses about (1 + s)·ε of relative accuracy. That loss is summed in ``drift``; past a
  limit the inverse is computed afresh from A, which is kept for the purpose. Since
  Σ log(1 + s) = log det A grows with log t only, large s are rare and so are fresh starts.

The sum A grows for ever and is compensated: ``carry`` keeps what rounding takes from it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.core.kernels.cholesky import add_gram, factor, invert, mirror, move_exactly
from pipeline.core.kernels.jit import inlined, jit
from pipeline.core.kernels.rows import FloatArray, add_outer, dot, quadratic, times

# Drift after which A is factorised again: so much for each column, where that pays, and never more
# than so many passes over P, each of which rounds all of it.
DRIFT_PER_COLUMN = 32.0
PASSES = 64
# So many rows are summed in G before A receives them.
RECENT = 64


class Inverse(NamedTuple):
    """A and A⁻¹ as kernels see them: arrays only, changed in place."""

    A: FloatArray
    carry: FloatArray
    G: FloatArray
    P: FloatArray
    U: FloatArray
    V: FloatArray
    penalty: FloatArray
    pending: NDArray[np.int64]
    stacked: NDArray[np.int64]
    recent: NDArray[np.int64]
    drift: FloatArray
    W: FloatArray
    L: FloatArray


def make_inverse(penalty: FloatArray) -> Inverse:
    """Start at A = diag(penalty); call :func:`refactorise` before use."""
    d = len(penalty)
    block = 8 if d < 96 else 16
    A, carry, G, P = np.diag(penalty), *(np.zeros((d, d)) for _ in range(3))
    U, V = np.zeros((block, d)), np.zeros((8, d))
    zero = np.zeros(1, np.int64)
    counters = (zero, zero.copy(), zero.copy(), np.zeros(1))
    return Inverse(A, carry, G, P, U, V, penalty.copy(), *counters, *_scratch(d))


def _scratch(d: int) -> tuple[FloatArray, FloatArray]:
    return np.empty((d, d)), np.empty((d, d))


def copy_inverse(inverse: Inverse) -> Inverse:
    """Return an independent copy, with scratch space of its own."""
    return restore_inverse(saved_inverse(inverse))


def saved_inverse(inverse: Inverse) -> dict[str, NDArray[Any]]:
    """Return copies of the arrays that matter."""
    arrays = inverse._asdict()
    return {name: array.copy() for name, array in arrays.items() if name not in ("W", "L")}


def restore_inverse(arrays: dict[str, NDArray[Any]]) -> Inverse:
    """Make an inverse of saved arrays."""
    W, L = _scratch(len(arrays["penalty"]))
    return Inverse(**arrays, W=W, L=L)


def gram(inverse: Inverse) -> FloatArray:
    """Return the lower triangle of A, the latest rows included."""
    V = inverse.V[: inverse.stacked[0]]
    A: FloatArray = np.tril(inverse.A + inverse.G + V.T @ V)
    return A


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
def _settle(inverse):
    """Bring A up to date."""
    add_gram(inverse.G, inverse.V, inverse.stacked[0], 1.0)
    move_exactly(inverse.G, inverse.A, inverse.carry)
    inverse.stacked[0] = 0
    inverse.recent[0] = 0


@inlined
def _collect(inverse, rows, i):
    """Add x x' to what A will soon receive: to G, where dense rows arrive eight at a time."""
    if rows.indptr.shape[0] > 0:
        add_outer(rows, i, 1.0, inverse.G)
    else:
        m = inverse.stacked[0]
        for j in range(inverse.V.shape[1]):
            inverse.V[m, j] = rows.X[i, j]
        inverse.stacked[0] = m + 1
        if m + 1 == inverse.V.shape[0]:
            add_gram(inverse.G, inverse.V, m + 1, 1.0)
            inverse.stacked[0] = 0
    inverse.recent[0] += 1
    if inverse.recent[0] == RECENT:
        _settle(inverse)


@jit
def add_rows(inverse, rows, ids, first, last):
    """Add Σ x x' over rows ids[first:last] to A; A⁻¹ is stale until refactorised."""
    for k in range(first, last):
        _collect(inverse, rows, ids[k])


@jit
def refactorise(inverse):
    """Compute A⁻¹ from A. False if A is singular."""
    _settle(inverse)
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
    _collect(inverse, rows, i)
    inverse.pending[0] = m + 1
    inverse.drift[0] += 1.0 + s
    block = inverse.U.shape[0]
    if inverse.drift[0] > min(DRIFT_PER_COLUMN * u.shape[0], PASSES * block):
        refactorise(inverse)
        return True
    if m + 1 == block:
        add_gram(inverse.P, inverse.U, m + 1, -1.0)
        if rows.indptr.shape[0] > 0:
            mirror(inverse.P)
        inverse.pending[0] = 0
    return False

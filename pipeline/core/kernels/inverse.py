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

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.core.kernels.cholesky import add_gram, factor, invert, mirror, move_exactly
from pipeline.core.kernels.jit import in_both, inlined, jit
from pipeline.core.kernels.rows import DENSE, FloatArray, add_outer, dot, quadratic, times

# Drift after which A is factorised again: so much for each column, where that pays, and never more
# than so many passes over P, each of which rounds all of it.
DRIFT_PER_COLUMN = 32.0
PASSES = 64
# So many dense rows are stacked in V before G receives them, and so many rows in G before A does.
STACK = 8
RECENT_ROWS = 64
# Places of the counts.
COLUMNS, PENDING, STACKED, RECENT = range(4)


class Inverse(NamedTuple):
    """A and A⁻¹ as kernels see them: views of a :class:`~pipeline.core.kernels.memory.Memory`."""

    A: FloatArray
    carry: FloatArray
    G: FloatArray
    P: FloatArray
    U: FloatArray
    V: FloatArray
    penalty: FloatArray
    drift: FloatArray
    counts: NDArray[np.int64]
    W: FloatArray
    L: FloatArray


@in_both
def terms_that_wait(d):
    """Return how many rank-one terms are applied together."""
    return 8 if d < 96 else 16


@in_both
def inverse_size(d):
    """Return how many numbers of the memory are A's and A⁻¹'s."""
    return 4 * d * d + (terms_that_wait(d) + STACK + 1) * d + 1


@in_both
def inverse_of(memory):
    """Return the views."""
    kept, scratch, counts = memory
    d = counts[COLUMNS]
    n = d * d
    u, v = 4 * n, 4 * n + terms_that_wait(d) * d
    rest = v + STACK * d
    return Inverse(
        kept[:n].reshape((d, d)),
        kept[n : 2 * n].reshape((d, d)),
        kept[2 * n : 3 * n].reshape((d, d)),
        kept[3 * n : u].reshape((d, d)),
        kept[u:v].reshape((terms_that_wait(d), d)),
        kept[v:rest].reshape((STACK, d)),
        kept[rest : rest + d],
        kept[rest + d : rest + d + 1],
        counts,
        scratch[:n].reshape((d, d)),
        scratch[n : 2 * n].reshape((d, d)),
    )


def gram(inverse: Inverse) -> FloatArray:
    """Return the lower triangle of A, the latest rows included."""
    V = inverse.V[: inverse.counts[STACKED]]
    A: FloatArray = np.tril(inverse.A + inverse.G + V.T @ V)
    return A


@inlined
def square_width(inverse, rows, i):
    """Return x'A⁻¹x ≥ 0."""
    s = quadratic(rows, i, inverse.P)
    for m in range(inverse.counts[PENDING]):
        c = dot(rows, i, inverse.U[m])
        s -= c * c
    return max(s, 0.0)


@inlined
def apply(inverse, rows, i, u):
    """Set u = A⁻¹x and return s = x'A⁻¹x ≥ 0."""
    times(rows, i, inverse.P, u)
    U, pending = inverse.U, inverse.counts[PENDING]
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
    add_gram(inverse.G, inverse.V, inverse.counts[STACKED], 1.0)
    move_exactly(inverse.G, inverse.A, inverse.carry)
    inverse.counts[STACKED] = 0
    inverse.counts[RECENT] = 0


@inlined
def add_row(inverse, rows, i):
    """Add x x' to what A will soon receive: to G, where dense rows arrive eight at a time.

    A⁻¹ does not follow.
    """
    if len(rows) == DENSE:
        m = inverse.counts[STACKED]
        for j in range(inverse.V.shape[1]):
            inverse.V[m, j] = rows.X[i, j]
        inverse.counts[STACKED] = m + 1
        if m + 1 == STACK:
            add_gram(inverse.G, inverse.V, m + 1, 1.0)
            inverse.counts[STACKED] = 0
    else:
        add_outer(rows, i, 1.0, inverse.G)
    inverse.counts[RECENT] += 1
    if inverse.counts[RECENT] == RECENT_ROWS:
        _settle(inverse)


@jit
def add_rows(inverse, rows, ids, first, last):
    """Add Σ x x' over rows ids[first:last] to A; A⁻¹ is stale until refactorised."""
    for k in range(first, last):
        add_row(inverse, rows, ids[k])


@jit
def refactorise(inverse):
    """Compute A⁻¹ from A. False if A is singular."""
    _settle(inverse)
    regular = factor(inverse.A, inverse.penalty, inverse.L)
    invert(inverse.L, inverse.W, inverse.P)
    inverse.counts[PENDING] = 0
    inverse.drift[0] = 0.0
    return regular


@inlined
def grow(inverse, rows, i, u, s):
    """Add x x' to A, given u = A⁻¹x and s = x'u. True if A⁻¹ was computed afresh."""
    m = inverse.counts[PENDING]
    scale = 1.0 / (1.0 + s) ** 0.5
    for j in range(u.shape[0]):
        inverse.U[m, j] = u[j] * scale
    add_row(inverse, rows, i)
    inverse.counts[PENDING] = m + 1
    inverse.drift[0] += 1.0 + s
    block = inverse.U.shape[0]
    if inverse.drift[0] > min(DRIFT_PER_COLUMN * u.shape[0], PASSES * block):
        refactorise(inverse)
        return True
    if m + 1 == block:
        add_gram(inverse.P, inverse.U, m + 1, -1.0)
        if len(rows) != DENSE:
            mirror(inverse.P)
        inverse.counts[PENDING] = 0
    return False

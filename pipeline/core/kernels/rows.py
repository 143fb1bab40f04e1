"""Rows of a design matrix, dense or sparse, and the products the kernels take with them.

Most public tables become one-hot columns: Adult has 13 non-zeros among 122. A sparse row makes
A⁻¹x a sum of 13 columns instead of 122, so every kernel is written for both layouts. They differ in
the number of their fields, which numba knows when it compiles: of ``if len(rows) == DENSE`` only
the branch that is taken is compiled. Matrices are symmetric; the lower triangle is the one that
counts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.core.kernels.cholesky import two_sum
from pipeline.core.kernels.jit import exact, inlined, jit

FloatArray = NDArray[np.float64]

# Kernels index with unsigned numbers: numba then leaves out the test for negative indices, which
# would cost as much as the arithmetic of a sparse row.
ONE, TWO, THREE, FOUR = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)

# Below this share of non-zeros the sparse layout is faster (scripts/bench.py measures it).
SPARSE_DENSITY = 0.3


class Dense(NamedTuple):
    """A row-major matrix."""

    X: FloatArray

    @property
    def n_columns(self) -> int:
        """Number of columns, the constant one included."""
        return int(self.X.shape[1])


class Sparse(NamedTuple):
    """The non-zeros of a matrix, row by row (CSR)."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.uint32]
    data: FloatArray
    n_columns: int


Rows = Dense | Sparse
DENSE = 1  # fields of Dense


def dense_rows(X: FloatArray, *, constant: bool = False) -> Dense:
    """Lay out ``X`` densely, with a last column of ones if ``constant``."""
    if constant:
        X = np.column_stack([X, np.ones(len(X))])
    return Dense(np.ascontiguousarray(X, dtype=np.float64))


def sparse_rows(X: FloatArray, *, constant: bool = False) -> Sparse:
    """Lay out ``X`` as CSR, with a last column of ones if ``constant``."""
    X = dense_rows(X, constant=constant).X
    present = X != 0.0
    indptr = np.concatenate([[0], np.cumsum(np.count_nonzero(present, axis=1))])
    indices = np.nonzero(present)[1].astype(np.uint32)
    return Sparse(indptr.astype(np.int64), indices, X[present], X.shape[1])


def layout(X: FloatArray, *, constant: bool = False, sparse: bool | None = None) -> Rows:
    """Choose the layout by the share of non-zeros, unless told."""
    if sparse is None:
        sparse = bool(np.count_nonzero(X) < SPARSE_DENSITY * X.size)
    return (sparse_rows if sparse else dense_rows)(X, constant=constant)


def take(rows: Rows, order: NDArray[np.int64]) -> Rows:
    """Copy rows in the order a stream presents them, so that kernels read memory forwards."""
    if isinstance(rows, Dense):
        return Dense(rows.X[order])
    length = np.diff(rows.indptr)[order]
    indptr = np.concatenate([[0], np.cumsum(length)])
    source = np.repeat(rows.indptr[:-1][order] - indptr[:-1], length) + np.arange(indptr[-1])
    return rows._replace(indptr=indptr, indices=rows.indices[source], data=rows.data[source])


@inlined
def dot(rows, i, v):
    """Return x_i'v."""
    s0 = 0.0
    if len(rows) == DENSE:
        for j in range(v.shape[0]):
            s0 += rows.X[i, j] * v[j]
        return s0
    s1 = s2 = s3 = 0.0
    data, column = rows.data, rows.indices
    k, end = np.uint64(rows.indptr[i]), np.uint64(rows.indptr[i + 1])
    while k + FOUR <= end:
        s0 += data[k] * v[column[k]]
        s1 += data[k + ONE] * v[column[k + ONE]]
        s2 += data[k + TWO] * v[column[k + TWO]]
        s3 += data[k + THREE] * v[column[k + THREE]]
        k += FOUR
    while k < end:
        s0 += data[k] * v[column[k]]
        k += ONE
    return (s0 + s1) + (s2 + s3)


@inlined
def add_scaled(rows, i, scale, out):
    """Add scale·x_i to ``out``."""
    if len(rows) == DENSE:
        for j in range(out.shape[0]):
            out[j] += scale * rows.X[i, j]
    else:
        for k in range(np.uint64(rows.indptr[i]), np.uint64(rows.indptr[i + 1])):
            out[rows.indices[k]] += scale * rows.data[k]


@jit
def add_outer(rows, i, weight, out):
    """Add weight·x_i x_i' to the lower triangle of ``out``."""
    if len(rows) == DENSE:
        for a in range(out.shape[0]):
            scaled = weight * rows.X[i, a]
            for b in range(a + 1):
                out[a, b] += scaled * rows.X[i, b]
    else:
        first = np.uint64(rows.indptr[i])
        for a in range(first, np.uint64(rows.indptr[i + 1])):
            target = out[rows.indices[a]]
            scaled = weight * rows.data[a]
            for b in range(first, a + ONE):
                target[rows.indices[b]] += scaled * rows.data[b]


@exact
def add_scaled_exactly(rows, i, scale, out, carry):
    """Add scale·x_i to out + carry."""
    if len(rows) == DENSE:
        for j in range(out.shape[0]):
            two_sum(out, carry, j, scale * rows.X[i, j])
    else:
        for k in range(np.uint64(rows.indptr[i]), np.uint64(rows.indptr[i + 1])):
            two_sum(out, carry, rows.indices[k], scale * rows.data[k])


@jit
def _dense_quadratic(x, P):
    """Return x'P x, four rows of the lower triangle at a time."""
    total = 0.0
    d = x.shape[0]
    a = 0
    while a + 4 <= d:
        s0 = s1 = s2 = s3 = 0.0
        for b in range(a):
            s0 += P[a, b] * x[b]
            s1 += P[a + 1, b] * x[b]
            s2 += P[a + 2, b] * x[b]
            s3 += P[a + 3, b] * x[b]
        s1 += P[a + 1, a] * x[a]
        s2 += P[a + 2, a] * x[a] + P[a + 2, a + 1] * x[a + 1]
        s3 += P[a + 3, a] * x[a] + P[a + 3, a + 1] * x[a + 1] + P[a + 3, a + 2] * x[a + 2]
        total += x[a] * (2.0 * s0 + P[a, a] * x[a])
        total += x[a + 1] * (2.0 * s1 + P[a + 1, a + 1] * x[a + 1])
        total += x[a + 2] * (2.0 * s2 + P[a + 2, a + 2] * x[a + 2])
        total += x[a + 3] * (2.0 * s3 + P[a + 3, a + 3] * x[a + 3])
        a += 4
    while a < d:
        part = 0.0
        for b in range(a):
            part += P[a, b] * x[b]
        total += x[a] * (2.0 * part + P[a, a] * x[a])
        a += 1
    return total


@jit
def quadratic(rows, i, P):
    """Return x_i'P x_i from the lower triangle of ``P``."""
    if len(rows) == DENSE:
        return _dense_quadratic(rows.X[i], P)
    total = 0.0
    first = np.uint64(rows.indptr[i])
    for a in range(first, np.uint64(rows.indptr[i + 1])):
        source = P[rows.indices[a]]
        part = 0.0
        for b in range(first, a):
            part += source[rows.indices[b]] * rows.data[b]
        total += rows.data[a] * (2.0 * part + source[rows.indices[a]] * rows.data[a])
    return total


@jit
def symmetric_times(P, x, out):
    """Add P x to ``out``, reading each entry of the lower triangle once, four rows at a time."""
    d = x.shape[0]
    a = 0
    while a + 4 <= d:
        p0, p1, p2, p3 = P[a], P[a + 1], P[a + 2], P[a + 3]
        x0, x1, x2, x3 = x[a], x[a + 1], x[a + 2], x[a + 3]
        s0 = s1 = s2 = s3 = 0.0
        for b in range(a):
            s0 += p0[b] * x[b]
            s1 += p1[b] * x[b]
            s2 += p2[b] * x[b]
            s3 += p3[b] * x[b]
            out[b] += x0 * p0[b] + x1 * p1[b] + x2 * p2[b] + x3 * p3[b]
        out[a] += s0 + p0[a] * x0 + p1[a] * x1 + p2[a] * x2 + p3[a] * x3
        out[a + 1] += s1 + p1[a] * x0 + p1[a + 1] * x1 + p2[a + 1] * x2 + p3[a + 1] * x3
        out[a + 2] += s2 + p2[a] * x0 + p2[a + 1] * x1 + p2[a + 2] * x2 + p3[a + 2] * x3
        out[a + 3] += s3 + p3[a] * x0 + p3[a + 1] * x1 + p3[a + 2] * x2 + p3[a + 3] * x3
        a += 4
    while a < d:
        part = 0.0
        for b in range(a):
            part += P[a, b] * x[b]
            out[b] += x[a] * P[a, b]
        out[a] += part + P[a, a] * x[a]
        a += 1


@jit
def _times_sparse(rows, i, P, out):
    """Add P x to ``out``, four non-zeros at a time."""
    data, column = rows.data, rows.indices
    k, end = np.uint64(rows.indptr[i]), np.uint64(rows.indptr[i + 1])
    while k + FOUR <= end:
        x0, x1, x2, x3 = data[k], data[k + ONE], data[k + TWO], data[k + THREE]
        p0, p1 = P[column[k]], P[column[k + ONE]]
        p2, p3 = P[column[k + TWO]], P[column[k + THREE]]
        for j in range(out.shape[0]):
            out[j] += x0 * p0[j] + x1 * p1[j] + x2 * p2[j] + x3 * p3[j]
        k += FOUR
    while k < end:
        value, source = data[k], P[column[k]]
        for j in range(out.shape[0]):
            out[j] += value * source[j]
        k += ONE


@jit
def times(rows, i, P, out):
    """Set out = P x_i. A sparse row reads whole rows of ``P``, a dense one the lower triangle."""
    d = out.shape[0]
    for j in range(d):
        out[j] = 0.0
    if len(rows) == DENSE:
        symmetric_times(P, rows.X[i], out)
    else:
        _times_sparse(rows, i, P, out)

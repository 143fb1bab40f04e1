"""Symmetric positive definite matrices: factor, solve, invert, add rank-k terms.

Written out instead of called from LAPACK so that a result never depends on how many threads a
BLAS library uses. Only lower triangles are read and written unless said otherwise.
"""

from __future__ import annotations

from pipeline.core.kernels.jit import exact, jit

EPS = 2.220446049250313e-16
# A squared pivot below so many roundings of its diagonal entry is taken for zero.
ROUNDING = 1e4


@jit
def factor(A, penalty, L):
    """Set L to the Cholesky factor of A = diag(penalty) + Gram matrix; False if A is singular.

    In exact arithmetic no squared pivot is below its penalty. Rounding may push it there when
    columns are collinear and huge, so that bound is restored, which keeps the factor finite.
    """
    regular = True
    d = A.shape[0]
    for i in range(d):
        for j in range(i):
            total = 0.0
            for k in range(j):
                total += L[i, k] * L[j, k]
            L[i, j] = (A[i, j] - total) / L[j, j]
        total = 0.0
        for k in range(i):
            total += L[i, k] * L[i, k]
        pivot = A[i, i] - total
        noise = d * EPS * A[i, i]
        if penalty[i] <= 0.0 and pivot <= ROUNDING * noise:
            regular = False
        L[i, i] = max(pivot, penalty[i], noise, 1e-300) ** 0.5
    return regular


@jit
def solve(L, b, out):
    """Set out = (LL')⁻¹ b."""
    d = L.shape[0]
    for i in range(d):
        total = 0.0
        for k in range(i):
            total += L[i, k] * out[k]
        out[i] = (b[i] - total) / L[i, i]
    for i in range(d - 1, -1, -1):
        value = out[i] / L[i, i]
        out[i] = value
        for k in range(i):
            out[k] -= L[i, k] * value


@jit
def mirror(P):
    """Copy the lower triangle to the upper one, four rows at a time."""
    d = P.shape[0]
    i = 0
    while i + 4 <= d:
        for j in range(i):
            P[j, i] = P[i, j]
            P[j, i + 1] = P[i + 1, j]
            P[j, i + 2] = P[i + 2, j]
            P[j, i + 3] = P[i + 3, j]
        for a in range(i + 1, i + 4):
            for b in range(i, a):
                P[b, a] = P[a, b]
        i += 4
    while i < d:
        for j in range(i):
            P[j, i] = P[i, j]
        i += 1


@jit
def _add_eight(C, V, k, sign, d):
    """Add sign·Σ v v' for eight rows of V to the first d rows of C.

    Two rows of C at a time, so that C is read once and not eight times.
    """
    a, b, c, e = V[k], V[k + 1], V[k + 2], V[k + 3]
    f, g, h, q = V[k + 4], V[k + 5], V[k + 6], V[k + 7]
    i = 0
    while i + 2 <= d:
        a0, b0, c0, e0 = sign * a[i], sign * b[i], sign * c[i], sign * e[i]
        f0, g0, h0, q0 = sign * f[i], sign * g[i], sign * h[i], sign * q[i]
        n = i + 1
        a1, b1, c1, e1 = sign * a[n], sign * b[n], sign * c[n], sign * e[n]
        f1, g1, h1, q1 = sign * f[n], sign * g[n], sign * h[n], sign * q[n]
        upper, lower = C[i], C[n]
        for j in range(n + 1):
            va, vb, vc, ve, vf, vg, vh, vq = a[j], b[j], c[j], e[j], f[j], g[j], h[j], q[j]
            upper[j] += (
                a0 * va + b0 * vb + c0 * vc + e0 * ve + f0 * vf + g0 * vg + h0 * vh + q0 * vq
            )
            lower[j] += (
                a1 * va + b1 * vb + c1 * vc + e1 * ve + f1 * vf + g1 * vg + h1 * vh + q1 * vq
            )
        i += 2
    if i < d:
        for j in range(i + 1):
            total = 0.0
            for r in range(k, k + 8):
                total += V[r, i] * V[r, j]
            C[i, j] += sign * total


@jit
def add_gram(C, V, m, sign):
    """Add sign·V[:m]'V[:m] to the lower triangle of C, eight rows of V in one pass over C."""
    k = 0
    while k + 8 <= m:
        _add_eight(C, V, k, sign, C.shape[0])
        k += 8
    while k < m:
        v = V[k]
        for i in range(C.shape[0]):
            scale = sign * v[i]
            for j in range(i + 1):
                C[i, j] += scale * v[j]
        k += 1


@jit
def invert(L, W, P):
    """Set P = (LL')⁻¹, both triangles, with W as scratch for L⁻¹."""
    d = L.shape[0]
    for i in range(d):
        for j in range(d):
            W[i, j] = 0.0
            P[i, j] = 0.0
        W[i, i] = 1.0
        for k in range(i):
            scale = L[i, k]
            for j in range(k + 1):
                W[i, j] -= scale * W[k, j]
        for j in range(i + 1):
            W[i, j] /= L[i, i]
    k = 0
    while k + 8 <= d:
        _add_eight(P, W, k, 1.0, k + 8)  # row k of L⁻¹ ends at column k
        k += 8
    while k < d:
        for i in range(k + 1):
            for j in range(i + 1):
                P[i, j] += W[k, i] * W[k, j]
        k += 1
    mirror(P)


@exact
def two_sum(row, rest, j, term):
    """Add a term to row[j] + rest[j]; ``rest`` keeps what rounding takes (Knuth's two-sum)."""
    term += rest[j]
    total = row[j] + term
    shift = total - row[j]
    rest[j] = (row[j] - (total - shift)) + (term - shift)
    row[j] = total


@exact
def move_exactly(G, C, carry):
    """Move the lower triangle of G to C + carry.

    ``carry`` holds what rounding took from C, so that a million terms are as exact as one.
    """
    for i in range(C.shape[0]):
        new, row, rest = G[i], C[i], carry[i]
        for j in range(i + 1):
            two_sum(row, rest, j, new[j])
        for j in range(i + 1):
            new[j] = 0.0

"""Factor, solve, invert and rank-k updates against numpy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pipeline.core.kernels import cholesky
from tests.core.reference import EPS, gram, solve

SIZES = [*range(1, 41), 122]


def regular_matrix(d: int, seed: int = 0) -> np.ndarray:
    X = np.random.default_rng(seed).normal(size=(2 * d + 3, d))
    return X.T @ X + np.eye(d)


def matrix_with_cond(d: int, cond: float) -> np.ndarray:
    Q = np.linalg.qr(np.random.default_rng(1).normal(size=(d, d)))[0]
    A = (Q * np.geomspace(1.0, cond, d)) @ Q.T
    return (A + A.T) / 2


def factorise(A: np.ndarray, penalty: float = 1e-9) -> tuple[np.ndarray, bool]:
    """Factor from the lower triangle alone: above it stands NaN, and L starts as NaN."""
    lower = np.where(np.tri(len(A), dtype=bool), A, np.nan)
    L = np.full_like(A, np.nan)
    regular = cholesky.factor(lower, np.full(len(A), penalty), L)
    return L, regular


@pytest.mark.parametrize("d", SIZES)
def test_factor_solve_and_invert(d: int) -> None:
    A = regular_matrix(d)
    L, regular = factorise(A)
    assert regular
    assert_allclose(np.tril(L), np.linalg.cholesky(A), rtol=1e-11, atol=1e-11)

    b, x = np.random.default_rng(2).normal(size=d), np.full(d, np.nan)
    cholesky.solve(L, b, x)
    assert_allclose(x, np.linalg.solve(A, b), rtol=1e-9, atol=1e-12)

    P = np.full((d, d), np.nan)
    cholesky.invert(L, np.full((d, d), np.nan), P)
    assert_allclose(P @ A, np.eye(d), atol=1e-10)
    assert_array_equal(P, P.T)


@pytest.mark.parametrize("cond", [1e3, 1e7, 1e11, 1e14])
@pytest.mark.parametrize("d", [2, 7, 30, 122])
def test_ill_conditioned_matrices(d: int, cond: float) -> None:
    A = matrix_with_cond(d, cond)
    L, regular = factorise(A)
    assert regular
    P = np.empty((d, d))
    cholesky.invert(L, np.empty((d, d)), P)
    x, b = np.empty(d), A @ np.ones(d)
    cholesky.solve(L, b, x)
    limit = 10 * cond * EPS
    assert np.abs(np.tril(L) @ np.tril(L).T - A).max() <= 4 * d * EPS * np.abs(A).max()
    assert np.abs(P @ A - np.eye(d)).max() <= limit
    assert np.linalg.norm(x - solve(A, b)) <= limit * np.sqrt(d)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("d", [1, 2, 3, 8, 9, 17, 122])
def test_add_gram(d: int, sign: float) -> None:
    rng = np.random.default_rng(3)
    V, start = rng.normal(size=(25, d)), rng.normal(size=(d, d))
    for m in range(26):
        C = start.copy()
        cholesky.add_gram(C, V, m, sign)
        full = start + sign * V[:m].T @ V[:m]
        assert_allclose(np.tril(C), np.tril(full), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("d", [1, 2, 7, 40])
def test_exact_sum_of_many_terms(d: int) -> None:
    """A plain sum of equal terms loses four digits in a million; C + carry loses none."""
    term = np.random.default_rng(3).normal(size=(d, d))
    C, carry, G = np.eye(d), np.zeros((d, d)), np.empty((d, d))
    for _ in range(20_000):
        G[:] = term
        cholesky.move_exactly(G, C, carry)
    truth = np.tril(np.eye(d) + 20_000 * term.astype(np.longdouble))
    assert_allclose(C + carry.astype(np.longdouble), truth, rtol=4 * EPS, atol=1e-14)
    assert_array_equal(np.tril(G), np.zeros((d, d)))


@pytest.mark.parametrize("d", SIZES)
def test_mirror(d: int) -> None:
    P = np.random.default_rng(4).normal(size=(d, d))
    expected = np.tril(P) + np.tril(P, -1).T
    cholesky.mirror(P)
    assert_array_equal(P, expected)


def singular(kind: str, n: int, seed: int) -> np.ndarray:
    X = np.random.default_rng(seed).normal(size=(n, 4))
    X[:, 3] = {
        "sum": X[:, 0] + X[:, 1],
        "repeated": X[:, 0],
        "affine": 3.0 * X[:, 0] - 0.1 * X[:, 1] + 7.0 * X[:, 2],
        "fewer rows than columns": X[:, 3],
        "zero": 0.0,
    }[kind]
    return X.T @ X


@pytest.mark.parametrize(
    ("kind", "n"),
    [
        *((kind, n) for kind in ("sum", "repeated", "affine", "zero") for n in (50, 1000, 20_000)),
        ("fewer rows than columns", 1),
        ("fewer rows than columns", 3),
    ],
)
def test_singular_matrix_is_noticed_without_penalty(kind: str, n: int) -> None:
    missed = [seed for seed in range(10) if factorise(singular(kind, n, seed), penalty=0.0)[1]]
    assert missed == []


@pytest.mark.parametrize("scale", [1e-3, 1.0, 4e3, 7e5])
def test_regular_matrix_is_no_false_alarm(scale: float) -> None:
    X = np.random.default_rng(5).normal(size=(200, 6)) * np.geomspace(1.0, scale, 6)
    assert factorise(X.T @ X, penalty=0.0)[1]


@pytest.mark.parametrize("scale", [1.0, 1e4, 7e5, 1e8])
def test_collinear_huge_columns_stay_finite_with_penalty(scale: float) -> None:
    X = scale * np.random.default_rng(6).normal(size=(500, 5))
    X = np.column_stack([X, X[:, 0] + X[:, 1], X[:, 2], np.full(500, scale)])
    A = gram(X, np.ones(8)).astype(np.float64)
    L, regular = factorise(A, penalty=1.0)
    P = np.empty((8, 8))
    cholesky.invert(L, np.empty((8, 8)), P)
    assert regular
    assert np.isfinite(P).all()
    # A ≥ I, so that A⁻¹ ≤ I; L may be off by rounding in A, never above the bound it restores
    assert (np.diag(P) > 0).all()
    assert (np.diag(P) <= 8.0).all()

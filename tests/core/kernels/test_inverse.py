"""A·A⁻¹ = I at the start, after every kind of update, and after a million of them."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.core.kernels import inverse as inv
from pipeline.core.kernels.jit import entry
from pipeline.core.kernels.memory import copy_memory, make_memory
from pipeline.core.kernels.rows import Dense, Rows, dense_rows, sparse_rows
from tests.core.reference import EPS, gram, widths

LAYOUTS = {"dense": dense_rows, "sparse": sparse_rows}
both_layouts = pytest.mark.parametrize("name", LAYOUTS)


@entry
def learn_rows(inverse, rows, first, last, u):
    """Learn rows first:last one by one, as a lane does."""
    for i in range(first, last):
        s = inv.apply(inverse, rows, i, u)
        inv.grow(inverse, rows, i, u, s)


def start_inverse(penalty: np.ndarray) -> inv.Inverse:
    inverse = inv.inverse_of(make_memory(penalty, refits=False))
    assert inv.refactorise(inverse)
    return inverse


def learn(inverse: inv.Inverse, rows: Rows, first: int, last: int) -> None:
    learn_rows(inverse, rows, first, last, np.empty(len(inverse.penalty)))


def read_out(inverse: inv.Inverse) -> np.ndarray:
    """A⁻¹ applied to the unit vectors, so that waiting terms count too."""
    d = len(inverse.penalty)
    units, out = dense_rows(np.eye(d)), np.full((d, d), np.nan)
    for i in range(d):
        s = inv.apply(inverse, units, i, out[i])
        assert s == pytest.approx(out[i, i], rel=1e-12)
    return out.T


def assert_inverse(inverse: inv.Inverse, A: np.ndarray) -> None:
    """max|A·A⁻¹ − I| ≤ max(1e-8, 10·cond(A)·eps), the A being the test's own."""
    error = np.abs(A @ read_out(inverse) - np.eye(len(A))).max()
    cond = np.linalg.cond(A.astype(np.float64))
    assert error <= max(1e-8, 10 * cond * EPS)


def one_hot(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Rows with a few non-zeros; also fine as dense rows."""
    return np.where(rng.random((n, d)) < 3 / (d + 2), rng.integers(1, 3, size=(n, d)), 0.0)


@pytest.mark.parametrize("l2", [0.01, 0.5, 1.0, 100.0])
@pytest.mark.parametrize("d", [1, 3, 8, 30, 122])
def test_inverse_at_round_0(d: int, l2: float) -> None:
    inverse = start_inverse(np.full(d, l2))
    np.testing.assert_allclose(read_out(inverse), np.eye(d) / l2, rtol=1e-14, atol=0)


@both_layouts
@pytest.mark.parametrize("l2", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("d", [3, 8, 30, 122])
def test_inverse_after_ten_thousand_updates(name: str, d: int, l2: float) -> None:
    rng = np.random.default_rng(d)
    X = one_hot(rng, 10_000, d) if name == "sparse" else rng.normal(size=(10_000, d))
    penalty = np.full(d, l2)
    inverse, rows, A, last = start_inverse(penalty), LAYOUTS[name](X), np.diag(penalty), 0
    for checkpoint in (1, 5, 18, 131, 1_003, 10_000):  # with any number of terms waiting
        learn(inverse, rows, last, checkpoint)
        A = A + X[last:checkpoint].T @ X[last:checkpoint]
        last = checkpoint
        assert_inverse(inverse, A)


def streams(d: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Kinds of data: a row x is z @ mix + shift, z normal."""
    eye, zero = np.eye(d), np.zeros(d)
    collinear = eye.copy()
    collinear[:, -1] = collinear[:, 0] + collinear[:, 1]
    constant, ones = eye.copy(), zero.copy()
    constant[:, -2:], ones[-2:] = 0.0, 1.0
    row = np.random.default_rng(d).normal(size=d)
    return {
        "well scaled": (eye, zero),
        "collinear": (collinear, zero),
        "two constant columns": (constant, ones),
        "badly scaled": (np.diag(np.geomspace(1e-3, 7e5, d)), zero),
        "far from the origin": (50 * eye, zero + 4000),
        "one row for ever": (0 * eye, row),
    }


def chunks(mix: np.ndarray, shift: np.ndarray, n: int, size: int) -> Iterator[np.ndarray]:
    rng = np.random.default_rng(0)
    for _ in range(0, n, size):
        yield rng.normal(size=(size, len(shift))) @ mix + shift


def follow(kind: str, d: int, l2: float, name: str, n: int) -> None:
    """Learn n rows; A⁻¹ is checked ten times on the way."""
    penalty = np.full(d, l2)
    inverse, A = start_inverse(penalty), gram(np.empty((0, d)), penalty)
    for X in chunks(*streams(d)[kind], n, n // 10):
        learn(inverse, LAYOUTS[name](X), 0, len(X))
        A = A + gram(X, 0 * penalty)
        assert_inverse(inverse, A)


@pytest.mark.parametrize("l2", [0.01, 1.0])
@pytest.mark.parametrize("kind", streams(8))
def test_inverse_over_a_million_updates(kind: str, l2: float) -> None:
    follow(kind, 8, l2, "dense", 1_000_000)


@pytest.mark.parametrize("kind", ["collinear", "one row for ever"])
def test_inverse_over_a_million_sparse_updates(kind: str) -> None:
    follow(kind, 8, 1.0, "sparse", 1_000_000)


@pytest.mark.slow
@both_layouts
@pytest.mark.parametrize("kind", streams(40))
def test_larger_inverse_over_a_million_updates(kind: str, name: str) -> None:
    follow(kind, 40, 0.01, name, 1_000_000)  # 40: terms wait in blocks of eight


@both_layouts
@settings(deadline=None, max_examples=100)
@given(
    d=st.integers(1, 40),
    log_l2=st.integers(-3, 3),
    scale=st.sampled_from([1e-3, 1.0, 30.0]),
    seed=st.integers(0, 2**32 - 1),
)
def test_width_shrinks_as_rows_are_learned(
    name: str, d: int, log_l2: int, scale: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    X = scale * np.where(rng.random((25, d)) < 0.6, rng.normal(size=(25, d)), 0.0)
    rows, penalty = LAYOUTS[name](X), np.full(d, 10.0**log_l2)
    inverse = start_inverse(penalty)
    before = square_widths(inverse, rows)
    # A⁻¹ cannot be known better than the condition of A allows; a tenth of it is never reached.
    condition = 1.0 + np.linalg.norm(X, 2) ** 2 / penalty[0]
    rounding = EPS * before.max() * max(50.0, condition / 10)
    for i in range(20):
        learn(inverse, rows, i, i + 1)
        after = square_widths(inverse, rows)
        assert (after <= before + rounding).all()
        assert after[i] == pytest.approx(before[i] / (1 + before[i]), rel=1e-9, abs=rounding)
        before = after
    A = gram(X[:20], penalty)
    rtol = 1e-9 + EPS * np.linalg.cond(A.astype(np.float64))
    np.testing.assert_allclose(after, widths(X, A) ** 2, rtol=rtol, atol=rounding)


def square_widths(inverse: inv.Inverse, rows: Rows) -> np.ndarray:
    n = len(rows.X) if isinstance(rows, Dense) else len(rows.indptr) - 1
    return np.array([inv.square_width(inverse, rows, i) for i in range(n)])


@both_layouts
@pytest.mark.parametrize("d", [3, 40, 122])
def test_rows_added_at_once_equal_rows_added_one_by_one(name: str, d: int) -> None:
    rng = np.random.default_rng(1)
    X, penalty = one_hot(rng, 60, d), np.full(d, 0.5)
    inverse, rows = start_inverse(penalty), LAYOUTS[name](X)
    learn(inverse, rows, 0, 21)  # leaves terms waiting where there is room for them
    order = rng.permutation(np.arange(21, 60))
    inv.add_rows(inverse, rows, order, 2, 30)
    assert inv.refactorise(inverse)
    assert_inverse(inverse, gram(np.vstack([X[:21], X[order[2:30]]]), penalty))


@both_layouts
@pytest.mark.parametrize("d", [3, 40])
def test_gram_counts_every_row_at_once(name: str, d: int) -> None:
    X, penalty = one_hot(np.random.default_rng(2), 150, d), np.full(d, 0.5)
    inverse, rows = start_inverse(penalty), LAYOUTS[name](X)
    for n in range(150):
        truth = np.diag(penalty) + X[:n].T @ X[:n]  # whole numbers: exact
        np.testing.assert_array_equal(np.tril(inv.gram(inverse)), np.tril(truth))
        learn(inverse, rows, n, n + 1)


def test_singular_start_is_reported() -> None:
    inverse = inv.inverse_of(make_memory(np.zeros(4), refits=False))
    X = np.random.default_rng(0).normal(size=(9, 4))
    inv.add_rows(inverse, dense_rows(X), np.arange(3), 0, 3)
    assert not inv.refactorise(inverse)
    inv.add_rows(inverse, dense_rows(X), np.arange(9), 3, 9)
    assert inv.refactorise(inverse)
    assert_inverse(inverse, gram(X, np.zeros(4)))


def test_copy_is_independent() -> None:
    X = np.random.default_rng(0).normal(size=(50, 40))
    memory, rows = make_memory(np.ones(40), refits=False), dense_rows(X)
    inverse = inv.inverse_of(memory)
    assert inv.refactorise(inverse)
    learn(inverse, rows, 0, 11)
    copy = inv.inverse_of(copy_memory(memory))
    learn(inverse, rows, 11, 50)
    assert_inverse(copy, gram(X[:11], np.ones(40)))
    learn(copy, rows, 11, 50)
    np.testing.assert_array_equal(read_out(copy), read_out(inverse))

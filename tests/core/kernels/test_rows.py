"""Dense and sparse rows give the products numpy gives."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from pipeline.core.kernels.rows import (
    Dense,
    Rows,
    Sparse,
    add_outer,
    add_scaled,
    add_scaled_exactly,
    dense_rows,
    dot,
    layout,
    quadratic,
    sparse_rows,
    symmetric_times,
    take,
    times,
)

LAYOUTS = {"dense": dense_rows, "sparse": sparse_rows}
relaxed = settings(deadline=None, max_examples=60)  # the first example compiles
both_layouts = pytest.mark.parametrize("name", LAYOUTS)


@st.composite
def tables(draw: st.DrawFn) -> tuple[np.ndarray, bool, np.random.Generator]:
    """A matrix with any share of zeros, empty rows and columns included."""
    n, d = draw(st.integers(1, 6)), draw(st.integers(1, 19))
    share, constant = draw(st.sampled_from([0.0, 0.1, 0.5, 1.0])), draw(st.booleans())
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = np.where(rng.random((n, d)) < share, rng.normal(size=(n, d)), 0.0)
    return X, constant, rng


def lay_out(name: str, X: np.ndarray, constant: bool) -> tuple[Rows, np.ndarray]:
    """The rows, and the matrix they stand for."""
    D = np.hstack([X, np.ones((len(X), 1))]) if constant else X
    return LAYOUTS[name](X, constant=constant), D


def symmetric(rng: np.random.Generator, d: int) -> np.ndarray:
    P = rng.normal(size=(d, d))
    return P + P.T


def lower_only(P: np.ndarray) -> np.ndarray:
    """P with NaN above the diagonal, so that whoever reads there is found out."""
    return np.where(np.tri(len(P), dtype=bool), P, np.nan)


@both_layouts
@relaxed
@given(table=tables())
def test_dot(name: str, table: tuple) -> None:
    rows, D = lay_out(name, *table[:2])
    v = table[2].normal(size=D.shape[1])
    assert_allclose([dot(rows, i, v) for i in range(len(D))], D @ v, rtol=1e-12, atol=1e-13)


@both_layouts
@relaxed
@given(table=tables())
def test_add_scaled(name: str, table: tuple) -> None:
    rows, D = lay_out(name, *table[:2])
    start = table[2].normal(size=D.shape[1])
    for i, x in enumerate(D):
        out = start.copy()
        add_scaled(rows, i, -1.5, out)
        assert_allclose(out, start - 1.5 * x, rtol=1e-13, atol=1e-14)


@both_layouts
@relaxed
@given(table=tables())
def test_add_outer_changes_the_lower_triangle(name: str, table: tuple) -> None:
    rows, D = lay_out(name, *table[:2])
    start = table[2].normal(size=(D.shape[1], D.shape[1]))
    for i, x in enumerate(D):
        out = start.copy()
        add_outer(rows, i, 0.7, out)
        assert_allclose(out, start + np.tril(0.7 * np.outer(x, x)), rtol=1e-13, atol=1e-14)


@both_layouts
@relaxed
@given(table=tables())
def test_quadratic_reads_the_lower_triangle(name: str, table: tuple) -> None:
    rows, D = lay_out(name, *table[:2])
    P = symmetric(table[2], D.shape[1])
    found = [quadratic(rows, i, lower_only(P)) for i in range(len(D))]
    assert_allclose(found, np.einsum("ij,jk,ik->i", D, P, D), rtol=1e-11, atol=1e-12)


@both_layouts
@relaxed
@given(table=tables())
def test_times(name: str, table: tuple) -> None:
    rows, D = lay_out(name, *table[:2])
    P = symmetric(table[2], D.shape[1])
    readable = P if name == "sparse" else lower_only(P)
    for i, x in enumerate(D):
        out = np.full(D.shape[1], np.nan)
        times(rows, i, readable, out)
        assert_allclose(out, P @ x, rtol=1e-11, atol=1e-12)


@relaxed
@given(table=tables())
def test_symmetric_times_adds_to_what_is_there(table: tuple) -> None:
    X, _, rng = table
    P, start = symmetric(rng, X.shape[1]), rng.normal(size=X.shape[1])
    out = start.copy()
    symmetric_times(lower_only(P), X[0], out)
    assert_allclose(out, start + P @ X[0], rtol=1e-11, atol=1e-12)


@both_layouts
@relaxed
@given(table=tables())
def test_exact_sum_loses_nothing(name: str, table: tuple) -> None:
    """A thousand equal terms: out + carry is as exact as one product."""
    rows, D = lay_out(name, *table[:2])
    out, carry = np.zeros(D.shape[1]), np.zeros(D.shape[1])
    for _ in range(1000):
        add_scaled_exactly(rows, 0, 0.1, out, carry)
    truth = 1000 * (0.1 * D[0]).astype(np.longdouble)
    assert_allclose(out + carry.astype(np.longdouble), truth, rtol=5e-16, atol=0)


def as_matrix(rows: Rows) -> np.ndarray:
    if isinstance(rows, Dense):
        return rows.X
    D = np.zeros((len(rows.indptr) - 1, rows.n_columns))
    for i, (first, last) in enumerate(zip(rows.indptr[:-1], rows.indptr[1:], strict=True)):
        D[i, rows.indices[first:last]] = rows.data[first:last]
    return D


@both_layouts
@relaxed
@given(table=tables())
def test_layout_holds_the_matrix(name: str, table: tuple) -> None:
    rows, D = lay_out(name, *table[:2])
    assert isinstance(rows, Sparse) == (name == "sparse")
    assert rows.n_columns == D.shape[1]
    assert_array_equal(as_matrix(rows), D)


@both_layouts
@relaxed
@given(table=tables())
def test_take_permutes(name: str, table: tuple) -> None:
    rows, D = lay_out(name, *table[:2])
    order = table[2].permutation(len(D))
    assert_array_equal(as_matrix(take(rows, order)), D[order])
    some = table[2].integers(0, len(D), size=4)
    assert_array_equal(as_matrix(take(rows, some)), D[some])
    assert_array_equal(as_matrix(rows), D)


def test_sparse_layout_is_chosen_for_one_hot_columns() -> None:
    assert isinstance(layout(np.eye(8)), Sparse)
    assert isinstance(layout(np.ones((8, 8))), Dense)
    assert isinstance(layout(np.eye(8), sparse=False), Dense)
    assert isinstance(layout(np.ones((8, 8)), sparse=True), Sparse)


def test_dense_rows_do_not_depend_on_memory_order() -> None:
    X = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    rows = dense_rows(X)
    assert rows.X.flags.c_contiguous
    assert_array_equal(rows.X, X)

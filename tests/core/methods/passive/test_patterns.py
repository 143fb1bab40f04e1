"""The cells of an arrangement: against LP feasibility of every pattern, and against counts."""

from __future__ import annotations

import itertools
from functools import lru_cache

import numpy as np
import pytest

from pipeline.core.methods.passive.patterns import (
    affine_cells,
    affine_count,
    central_cells,
    central_count,
)
from tests.core.methods.sign_patterns import feasible_patterns


def patterns_of(cells: np.ndarray, X: np.ndarray, z: float) -> list[tuple[bool, ...]]:
    return [tuple(row) for row in (cells @ X.T > z).tolist()]


def small_cases() -> list[np.ndarray]:
    """Rows in general position, and rows that repeat, oppose, line up or leave columns empty."""
    rng = np.random.default_rng(0)
    shapes = [(1, 1), (4, 1), (3, 2), (5, 2), (2, 3), (5, 3), (6, 4)]
    general = [rng.normal(size=shape) for shape in shapes]
    lattice = [rng.integers(-1, 2, size=shape).astype(float) for shape in shapes]
    line = np.column_stack([np.ones(5), np.arange(5.0)])
    return [*general, *lattice, line, np.eye(3)[[0, 1, 2, 0, 1]], np.ones((4, 2))]


@pytest.mark.parametrize("X", small_cases(), ids=lambda X: f"{len(X)}x{X.shape[1]}")
@pytest.mark.parametrize("z", [0.0, 0.7])
def test_cells_are_the_patterns_that_linear_programming_finds(X: np.ndarray, z: float) -> None:
    cutting = X[X.any(axis=1)]
    cells = affine_cells(X, np.full(len(X), z)) if z else central_cells(X)
    found = patterns_of(cells, cutting, z)
    assert len(found) == len(set(found))
    assert set(found) == feasible_patterns(cutting, z)


@pytest.mark.parametrize("X", small_cases(), ids=lambda X: f"{len(X)}x{X.shape[1]}")
def test_intercept_is_a_column_of_ones_through_zero(X: np.ndarray) -> None:
    with_ones = np.column_stack([X, np.ones(len(X))])
    found = patterns_of(central_cells(with_ones), with_ones, 0.0)
    assert len(found) == len(set(found))
    assert set(found) == feasible_patterns(with_ones, 0.0)


@lru_cache
def cover(n: int, d: int) -> int:
    """Cover's recursion: a new point doubles the dichotomies whose boundary can pass through it."""
    if n == 1 or d == 1:
        return 2
    return cover(n - 1, d) + cover(n - 1, d - 1)


@lru_cache
def regions(n: int, d: int) -> int:
    """Zaslavsky's recursion: a new hyperplane adds a region for each region on it."""
    return 1 if n == 0 or d == 0 else regions(n - 1, d) + regions(n - 1, d - 1)


@pytest.mark.parametrize(("n", "d"), [*itertools.product((1, 2, 5, 12, 18), (1, 2, 3, 4))])
def test_general_position_has_the_counts_of_the_textbook(n: int, d: int) -> None:
    X = np.random.default_rng([n, d]).normal(size=(n, d))
    assert len(affine_cells(X, np.full(n, 0.4))) == affine_count(n, d) == regions(n, d)
    assert len(central_cells(X)) == central_count(n, d) == cover(n, d)
    with_ones = np.column_stack([X, np.ones(n)])
    assert len(central_cells(with_ones)) == central_count(n, d + 1) == cover(n, d + 1)


def test_counts_by_hand() -> None:
    """Four points in the plane: 14 of 16 labellings, the two of exclusive or are missing."""
    assert central_count(4, 3) == 14
    assert central_count(3, 2) == 6
    assert affine_count(3, 2) == 7
    assert affine_count(47, 4) == 195_709  # T = 10⁵


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_no_cell_is_lost_at_the_size_of_a_hundred_thousand_rounds(seed: int) -> None:
    X = np.random.default_rng(seed).normal(size=(47, 4))
    assert len(affine_cells(X, np.full(47, 0.7))) == 195_709
    assert len(central_cells(np.column_stack([X, np.ones(47)]))) == 358_894


def test_turning_a_lattice_changes_no_count() -> None:
    """Many hyperplanes through one point: rounding must not invent cells, nor lose them."""
    X = np.array(list(itertools.product((-1.0, 0.0, 1.0), repeat=3)))
    turn = np.linalg.qr(np.random.default_rng(5).normal(size=(3, 3)))[0]
    straight, turned = (
        (len(central_cells(rows)), len(affine_cells(rows, np.full(27, 0.3))))
        for rows in (X, X @ turn)
    )
    assert straight == turned
    directions = np.random.default_rng(6).normal(size=(20_000, 3))
    assert straight[0] == len(np.unique(directions @ X.T > 0.0, axis=0))


def test_random_thresholds_find_no_further_pattern() -> None:
    X = np.random.default_rng(7).normal(size=(15, 3))
    known = set(patterns_of(affine_cells(X, np.full(15, 0.5)), X, 0.5))
    tried = np.random.default_rng(8).normal(size=(50_000, 3)) * 3.0
    assert set(patterns_of(tried, X, 0.5)) <= known


def test_scale_of_the_rows_does_not_matter() -> None:
    rng = np.random.default_rng(9)
    X, scale = rng.normal(size=(12, 3)), np.exp(rng.uniform(-12, 12, 12))
    assert len(central_cells(X * scale[:, None])) == central_count(12, 3)
    assert len(affine_cells(X * scale[:, None], 0.5 * scale)) == affine_count(12, 3)

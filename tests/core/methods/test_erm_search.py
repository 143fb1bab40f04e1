"""The coordinate ascent against the true least loss, found by linear programming."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.core.methods.erm import accepted_worth, ascend, regression
from tests.core.methods.sign_patterns import feasible_patterns


def problem(seed: int, n: int = 6, d: int = 2) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X @ rng.normal(size=d) + rng.normal(size=n) - 0.3


def test_ascent_never_beats_and_mostly_reaches_the_best_pattern() -> None:
    reached = []
    for seed in range(7):
        X, worth = problem(seed)
        best = max(worth[np.array(p)].sum() for p in feasible_patterns(X, 0.3))
        start = regression(X, worth, 0.3, np.full(2, 1.0))
        end = ascend(X, worth, 0.3, start)
        found = accepted_worth(X, worth, 0.3, end)
        assert accepted_worth(X, worth, 0.3, start) <= found <= best + 1e-9
        reached.append(found >= best - 1e-9)
    assert np.mean(reached) >= 0.6


@pytest.mark.parametrize("seed", range(3))
def test_no_single_coordinate_brings_more(seed: int) -> None:
    X, worth = problem(seed, n=60, d=4)
    X[::3, 1] = 0.0
    end = ascend(X, worth, 0.3, np.zeros(4))
    found = accepted_worth(X, worth, 0.3, end)
    for k in range(4):
        for value in np.linspace(-20, 20, 801):
            moved = end.copy()
            moved[k] = value
            assert accepted_worth(X, worth, 0.3, moved) <= found + 1e-9


def test_worth_is_the_loss_turned_round() -> None:
    """Σ |y − c|·1{1{y > c} ≠ a} = Σ (y − c)₊ − Σ a(y − c), row by row."""
    X, worth = problem(5, n=30)
    for beta in np.random.default_rng(0).normal(size=(10, 2)):
        accepted = X @ beta > 0.3
        loss = sum(abs(w) for w, a in zip(worth, accepted, strict=True) if (w > 0) != a)
        expected = np.maximum(worth, 0).sum() - loss
        assert accepted_worth(X, worth, 0.3, beta) == pytest.approx(expected)


def test_regression_is_ordinary_least_squares_without_a_ridge() -> None:
    X, worth = problem(6, n=30)
    expected = np.linalg.lstsq(X, worth + 0.3, rcond=None)[0]
    np.testing.assert_allclose(regression(X, worth, 0.3, np.zeros(2)), expected, rtol=1e-9)


def test_a_column_of_zeros_is_left_alone() -> None:
    X, worth = problem(7)
    X[:, 1] = 0.0
    assert ascend(X, worth, 0.3, np.array([0.0, 5.0]))[1] == 5.0


def test_rows_that_repeat_are_decided_together() -> None:
    """Labels of 2 and −1 on the same row: no value accepts the one without the other."""
    X, worth = np.ones((2, 1)), np.array([2.0, -1.0])
    assert accepted_worth(X, worth, 0.5, ascend(X, worth, 0.5, np.zeros(1))) == 1.0

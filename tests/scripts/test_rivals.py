"""The rivals do the work they are timed for: decisions and optima against naive truth."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest
from rivals import data, flops, mabwiser_linucb, numpy_loop, river_bayes, sklearn_refit, vw_regcb
from rivals.newton import newton_logistic, sigmoid

ALPHA, CUTOFF, N_INITIAL = 0.5, 0.5, 30
RULE: dict[str, Any] = {"alpha": ALPHA, "cutoff": CUTOFF}


def naive(X: np.ndarray, y: np.ndarray, method: str, draws: np.ndarray) -> np.ndarray:
    """Refit by np.linalg.solve every round, one row a round."""
    seen, accepted = list(range(N_INITIAL)), []
    for t, i in enumerate(range(N_INITIAL, len(X)), start=1):
        A = np.eye(X.shape[1]) + X[seen].T @ X[seen]
        score = X[i] @ np.linalg.solve(A, X[seen].T @ y[seen])
        u, coin = draws[t - 1]
        p = min(1.0, ALPHA / np.sqrt(t))
        bonus = {
            "greedy": 0.0,
            "eps_greedy": (np.inf if coin < 0.5 else -np.inf) if u < p else 0.0,
            "os_eps_greedy": np.inf if u < p else 0.0,
            "noise": ALPHA * (u - 0.5) / np.sqrt(t),
            "os_noise": ALPHA * u / np.sqrt(t),
            "margin": ALPHA / np.sqrt(t),
            "ours": ALPHA * np.sqrt(X[i] @ np.linalg.solve(A, X[i])),
        }[method]
        accepted.append(score + bonus > CUTOFF)
        if accepted[-1]:
            seen.append(i)
    return np.array(accepted)


def poisoned(y: np.ndarray, accepted: np.ndarray) -> np.ndarray:
    """Labels with NaN wherever the row was rejected."""
    copy = y.copy()
    copy[N_INITIAL : N_INITIAL + len(accepted)][~accepted] = np.nan
    return copy


SHAPES = {"dense": data.dense(600, 8, 1), "onehot": data.onehot(400, 2)}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("method", numpy_loop.METHODS)
def test_numpy_loop_decides_as_a_naive_refit_and_reads_no_rejected_label(
    shape: str, method: str
) -> None:
    """All seven methods, dense and one-hot."""
    X, y = SHAPES[shape]
    draws = np.random.default_rng(3).random((len(X) - N_INITIAL, 2))
    accepted = numpy_loop.run(X, y, N_INITIAL, method=method, **RULE, draws=draws)
    assert 0 < accepted.sum() < len(accepted)
    assert np.array_equal(accepted, naive(X, y, method, draws))
    again = numpy_loop.run(X, poisoned(y, accepted), N_INITIAL, method=method, **RULE, draws=draws)
    assert np.array_equal(accepted, again)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("rival", [river_bayes, mabwiser_linucb])
def test_river_and_mabwiser_decide_as_ours(rival: ModuleType, shape: str) -> None:
    """Ridge with l2 = 1 and the same bonus: same decisions."""
    if not rival.available()[0]:
        pytest.skip(rival.available()[1])
    X, y = SHAPES[shape]
    truth = numpy_loop.run(X, y, N_INITIAL, method="ours", **RULE)
    outcome = rival.run(X, poisoned(y, truth), N_INITIAL, **RULE, max_rounds=300)
    assert np.array_equal(outcome.accepted, truth[:300])
    assert outcome.seconds_per_round > 0


def test_two_arms_and_vw_accept_some_rows_and_read_no_rejected_label() -> None:
    """These two have rules of their own, so only the feedback is checked."""
    X, y = SHAPES["dense"]
    if mabwiser_linucb.available()[0]:
        accepted = mabwiser_linucb.run(X, y, N_INITIAL, **RULE, mapping="two_arms").accepted
        again = mabwiser_linucb.run(
            X, poisoned(y, accepted), N_INITIAL, **RULE, mapping="two_arms"
        ).accepted
        assert np.array_equal(accepted, again)
        assert 0 < accepted.sum() < len(accepted)
    if vw_regcb.available()[0]:
        accepted = vw_regcb.run(X, y, N_INITIAL, cutoff=CUTOFF).accepted
        again = vw_regcb.run(X, poisoned(y, accepted), N_INITIAL, cutoff=CUTOFF).accepted
        assert np.array_equal(accepted, again)
        assert 0 < accepted.sum() < len(accepted)


@pytest.mark.parametrize("solver", sklearn_refit.SOLVERS)
@pytest.mark.parametrize("sparse", [False, True])
def test_sklearn_logistic_reaches_newtons_optimum(solver: str, sparse: bool) -> None:
    """Every solver and input kind, along the whole stream."""
    X, y = data.onehot(1500, 4)
    setting = sklearn_refit.Setting(solver, 1e-10, sparse)
    run = sklearn_refit.run_logistic(X, y, 100, batch=200, cutoff=0.3, setting=setting, check=True)
    assert run.score_error < 1e-6
    seen = np.concatenate([np.ones(100, dtype=bool), run.accepted])
    optimum = newton_logistic(X[seen], y[seen])
    assert np.allclose(sigmoid(X @ run.coef), sigmoid(X @ optimum), atol=1e-6)


def test_newton_solves_its_equation() -> None:
    """The gradient is zero."""
    X, y = data.onehot(500, 5)
    b = newton_logistic(X, y)
    assert np.max(np.abs(X.T @ (y - sigmoid(X @ b)) - b)) < 1e-8


def test_data_shapes_and_seeds() -> None:
    """Adult's shape, and a constant column on request."""
    X, y = data.onehot(300, 6)
    assert X.shape == (300, 122)
    assert np.all(X.sum(axis=1) == 13)
    assert set(y) == {0.0, 1.0}
    assert np.array_equal(X, data.onehot(300, 6)[0])
    assert np.all(data.dense(50, 8, 7)[0][:, -1] == 1.0)


def test_flop_counts_and_peak() -> None:
    """The formula of the docstring, and a plausible machine."""
    assert flops.linear_update_flops(10, 3, 2, n_scored=5) == 2 * 100 * 3 + 4 * 100 * 2 + 20 * 5
    assert flops.peak_flops(sizes=(256,), seconds=0.05) > 1e8

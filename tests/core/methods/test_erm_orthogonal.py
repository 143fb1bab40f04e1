"""The exact minimum of the empirical one-sided loss on an orthogonal system (Appendix B)."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binomtest, norm

from pipeline.core.learner import OneSidedLearner
from pipeline.core.methods.checks.streams import drive
from pipeline.core.methods.erm import OrthogonalGroups


def loss(y: np.ndarray, c: float, accepted: np.ndarray) -> float:
    """Definition 1 with y in place of its mean, as Appendix B minimises it."""
    return float(np.abs(y - c)[(y > c) != accepted].sum())


def turned(d: int, seed: int) -> np.ndarray:
    """An orthogonal system of d vectors of unequal length."""
    rng = np.random.default_rng(seed)
    return np.linalg.qr(rng.normal(size=(d, d)))[0] * rng.uniform(0.5, 2.0, size=(d, 1))


@pytest.mark.parametrize("vectors", [np.eye(4), turned(4, 1)], ids=["axes", "turned"])
@pytest.mark.parametrize("link", ["linear", "logistic"])
def test_no_decision_on_the_groups_loses_less(vectors: np.ndarray, link: str) -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        group = np.append(np.arange(4), rng.integers(4, size=26))
        c = 0.3 if link == "linear" else 0.4
        y = rng.normal(c, 1.0, 30) if link == "linear" else (rng.random(30) < c) * 1.0
        X = vectors[group]
        learner = OneSidedLearner(link=link, method="erm", cutoff=c, fit_intercept=False).fit(X, y)
        assert learner.model.groups.holds
        mine = loss(y, c, learner.decide(X).accepted)
        every = [
            loss(y, c, np.array(choice)[group])
            for choice in itertools.product((True, False), repeat=4)
        ]
        assert mine == pytest.approx(min(every), rel=1e-12)
        assert min(every) < max(every)


def test_l_and_u_by_hand() -> None:
    """c = 1; the labels 0, 3 have l = 1 < u = 2; 0.5, 1.5 are a tie, which rejects."""
    groups = OrthogonalGroups(2)
    X = np.eye(2)[[0, 0, 1, 1]]
    groups.add(X, np.array([0.0, 3.0, 0.5, 1.5]) - 1.0)
    np.testing.assert_allclose(groups.lost, [1.0, 0.5])
    np.testing.assert_allclose(groups.missed, [2.0, 0.5])
    np.testing.assert_allclose(groups.solution(1.0), [2.0, 0.0])  # above c, below c


def test_each_label_counts_at_once() -> None:
    """One group, accepted until the sum of y − c is no longer above 0, then lost for ever."""
    labels = np.array([1.0, -0.4, -0.4, -0.4, 9.0, 9.0])
    learner = OneSidedLearner(method="erm", cutoff=0.0, fit_intercept=False)
    learner.fit(np.ones((1, 1)), labels[:1])
    accepted = [d.accepted[0] for d in drive(learner, np.ones((5, 1)), labels[1:], 1)]
    assert accepted == [True, True, True, False, False]


@pytest.mark.parametrize(
    "row", [[1.0, 1.0], [2.0, 0.0], [0.0, 0.0]], ids=["askew", "longer", "zero"]
)
def test_a_row_that_does_not_fit_ends_the_system(row: list[float]) -> None:
    groups = OrthogonalGroups(2)
    groups.add(np.array([[1.0, 0.0]]), np.ones(1))
    assert groups.holds
    groups.add(np.array([row]), np.ones(1))
    assert not groups.holds


@pytest.mark.parametrize(("t", "gap", "sigma"), [(9, 1 / 3, 1.0), (4, 0.3, 0.5)])
def test_failure_probability_is_the_normal_tail(t: int, gap: float, sigma: float) -> None:
    """P(group lost) = Φ(−τ√t/σ): 0.159 at τ = 1/√t and σ = 1, not "> 1/5" as Appendix B prints."""
    n_groups, n_runs = 40, 100
    rng = np.random.default_rng([t, n_groups])
    lost = 0
    for _ in range(n_runs):
        y = rng.normal(0.5 + gap, sigma, size=t * n_groups)
        learner = OneSidedLearner(method="erm", cutoff=0.5, fit_intercept=False)
        learner.fit(np.tile(np.eye(n_groups), (t, 1)), y)
        lost += int((~learner.decide(np.eye(n_groups)).accepted).sum())
    exact = norm.cdf(-gap * math.sqrt(t) / sigma)
    interval = binomtest(lost, n_groups * n_runs).proportion_ci(0.999)
    assert interval.low < exact < interval.high
    if sigma == 1.0:
        assert exact == pytest.approx(0.1587, abs=1e-4)
        assert interval.high < 0.2
        printed = math.exp(-0.5) / (2 * math.pi) / 2  # the bound as printed, and with √(2π)
        assert printed == pytest.approx(0.0483, abs=1e-4)
        assert printed * math.sqrt(2 * math.pi) == pytest.approx(0.121, abs=1e-3)

"""Algorithm 3 against the printed steps written out a second time, and its claims."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from pipeline.core.learner import OneSidedLearner
from pipeline.core.links import get_link
from pipeline.core.methods.checks.streams import drive, make_stream
from pipeline.core.methods.sgd import Iterate, Sgd
from pipeline.core.models.base import ModelSpec

MEANS = {"linear": lambda z: z, "logistic": expit}
LIPSCHITZ = {"linear": 1.0, "logistic": 0.25}
METHOD = Sgd(initial_distance=1.5, accuracy=0.05, noise_bound=0.3, distance_slack=0.5)


def as_printed(method: Sgd, link: str, c: float, X0, y0, X, y, alpha: float = 1.0):
    """Return decisions, β and d of Algorithm 3; rows have their constant column already."""
    mean, L = MEANS[link], LIPSCHITZ[link]
    beta, d = np.zeros(X.shape[1]), method.initial_distance
    sign = -1.0 if method.high_cutoff else 1.0
    accepted = []
    for t, (x, label) in enumerate(zip([*X0, *X], [*y0, *y], strict=True)):
        if t >= len(X0):
            s = sign * alpha * L * (1 + method.distance_slack) * d * np.linalg.norm(x)
            accepted.append(mean(x @ beta) + s >= c)
            if not accepted[-1]:
                continue
        residual = label - mean(x @ beta)
        if abs(residual) <= method.accuracy + method.noise_bound:
            continue
        beta = beta - 1 / (L * x @ x) * (-label * x + mean(x @ beta) * x)
        if method.radius is not None and abs(x @ beta) > method.radius:
            beta = beta - x * (x @ beta - math.copysign(method.radius, x @ beta)) / (x @ x)
        d = math.sqrt(max(0.0, d * d - method.accuracy**2 / (x @ x) / L**2))
    return np.array(accepted), beta, d


@pytest.mark.parametrize("link", MEANS)
@pytest.mark.parametrize("score", ["mean", "contrast"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("changes", [{}, {"radius": 0.4}, {"high_cutoff": True}], ids=str)
def test_learner_follows_the_printed_steps(link, score, intercept, changes) -> None:
    stream = make_stream(link, n=200)
    method = replace(METHOD, noise_bound=0.3 if link == "linear" else 0.2, **changes)
    alpha = 0.2  # at 1 nearly everything is accepted
    cutoff = 2 * stream.cutoff - 0.5 if score == "contrast" else stream.cutoff
    learner = OneSidedLearner(
        link=link, method=method, cutoff=cutoff, alpha=alpha, fit_intercept=intercept, score=score
    )
    X0, y0, X, y = stream.ordered()
    learner.fit(X0, y0)
    decisions = np.concatenate([d.accepted for d in drive(learner, X, y, 1)])
    if intercept:
        X0, X = (np.column_stack([part, np.ones(len(part))]) for part in (X0, X))
    expected, beta, d = as_printed(method, link, stream.cutoff, X0, y0, X, y, alpha)
    np.testing.assert_array_equal(decisions, expected)
    np.testing.assert_allclose(learner.model.beta, beta, rtol=1e-9, atol=1e-12)
    assert learner.model.distance_ == pytest.approx(d, rel=1e-9)
    assert 0 < expected.sum() < len(expected)
    assert learner.model.n_updates_ > 5


def test_ties_are_accepted() -> None:
    """β = 0, d₀ = 1, δ = 1 and ‖x‖ = 1: μ + s = 0 + 2."""
    for cutoff, accepts in ((2.0, True), (np.nextafter(2.0, 3.0), False)):
        learner = OneSidedLearner(method="sgd", cutoff=cutoff, alpha=1.0, fit_intercept=False)
        learner.fit(np.ones((1, 1)), np.zeros(1))
        assert learner.decide(np.ones((1, 1))).accepted[0] == accepts


def test_high_cutoff_takes_the_bonus_away() -> None:
    learner = OneSidedLearner(method=Sgd(high_cutoff=True), cutoff=-2.0, fit_intercept=False)
    learner.fit(np.ones((1, 1)), np.zeros(1))
    decision = learner.decide(np.array([[1.0], [1.5]]))
    np.testing.assert_allclose(decision.bonus, [-2.0, -3.0])
    assert decision.accepted.tolist() == [True, False]


# --- the update -----------------------------------------------------------------------------------


def iterate(link: str = "linear", **parameters: float) -> Iterate:
    model = Sgd(**parameters).make_model(ModelSpec(get_link(link), fit_intercept=False))
    assert isinstance(model, Iterate)
    model.fit(np.empty((0, 2)), np.empty(0))
    return model


def test_update_by_hand() -> None:
    """L = 1, ‖x‖² = 4, residual 6: β moves by 6/4·x, d² falls by 0.5²/4."""
    model = iterate(initial_distance=2.0, accuracy=0.5, noise_bound=1.0)
    model.update(np.array([[2.0, 0.0]]), np.array([1.5]))
    np.testing.assert_array_equal(model.beta, 0.0)  # a residual of α + B is not above it
    model.update(np.array([[2.0, 0.0]]), np.array([6.0]))
    np.testing.assert_allclose(model.beta, [3.0, 0.0])
    assert model.distance_ == pytest.approx(math.sqrt(4.0 - 0.0625))
    assert (model.n_updates_, model.n_impossible_) == (1, 0)


def test_step_of_the_logistic_link_is_four_times_as_long() -> None:
    model = iterate("logistic", initial_distance=2.0, accuracy=0.1, noise_bound=0.2)
    model.update(np.array([[1.0, 0.0]]), np.array([1.0]))
    np.testing.assert_allclose(model.beta, [2.0, 0.0])  # (1 − ½)/(¼·1)
    assert model.distance_ == pytest.approx(math.sqrt(4.0 - 0.16))


def test_projection_is_the_nearest_point() -> None:
    rng = np.random.default_rng(0)
    for _ in range(5):
        x, label = rng.normal(size=2), 9.0 * rng.choice([-1, 1])
        free, bound = iterate(), iterate(radius=0.5)
        for model in (free, bound):
            model.update(x[None], np.array([label]))
        limits = [{"type": "ineq", "fun": lambda b, s=s, x=x: 0.5 + s * x @ b} for s in (1, -1)]
        nearest = minimize(
            lambda b, to=free.beta: np.sum((b - to) ** 2),
            np.zeros(2),
            constraints=limits,
            tol=1e-12,
        )
        np.testing.assert_allclose(bound.beta, nearest.x, atol=1e-5)
        assert abs(x @ bound.beta) <= 0.5 + 1e-12


def test_distance_is_never_nan() -> None:
    """d² would fall below 0: d stays 0, the rule is greedy from there on, and the count tells."""
    model = iterate(initial_distance=0.3, accuracy=0.25, noise_bound=0.0)
    x = np.array([[1.0, 0.0]])
    for label, d, impossible in ((5.0, math.sqrt(0.0275), 0), (-5.0, 0.0, 1), (5.0, 0.0, 2)):
        model.update(x, np.array([label]))
        assert model.distance_ == pytest.approx(d)
        assert model.n_impossible_ == impossible
    np.testing.assert_array_equal(model.width(x), 0.0)
    np.testing.assert_allclose(model.beta, [5.0, 0.0])  # β still learns


def test_row_of_zeros_teaches_nothing() -> None:
    model = iterate()
    model.update(np.zeros((1, 2)), np.array([100.0]))
    np.testing.assert_array_equal(model.beta, 0.0)
    assert model.n_updates_ == 0


# --- the proposition ------------------------------------------------------------------------------


@pytest.mark.parametrize("link", MEANS)
@pytest.mark.parametrize("seed", range(3))
def test_without_noise_each_update_comes_nearer_by_what_is_claimed(link: str, seed: int) -> None:
    """‖β_{t+1} − β*‖² ≤ ‖β_t − β*‖² − α²/(‖x‖²L²), so d_t bounds the distance all along."""
    rng = np.random.default_rng(seed)
    target = rng.normal(size=2)
    radius = 8.0
    model = iterate(
        link, initial_distance=float(np.linalg.norm(target)), accuracy=0.01, noise_bound=0.0,
        radius=radius,
    )  # fmt: skip
    for x in rng.normal(size=(300, 2)):
        assert abs(x @ target) <= radius
        before, n = np.sum((model.beta - target) ** 2), model.n_updates_
        model.update(x[None], np.array([MEANS[link](x @ target)]))
        after = np.sum((model.beta - target) ** 2)
        if model.n_updates_ > n:
            assert after <= before - 0.01**2 / (x @ x) / LIPSCHITZ[link] ** 2 + 1e-12
        assert math.sqrt(after) <= model.distance_ + 1e-9
    assert model.n_updates_ > 1
    assert model.n_impossible_ == 0


def test_noise_within_its_bound_can_outrun_the_recursion() -> None:
    """β* = 0.5, ε = 1 = B: the update overshoots to 1.5, twice as far, while d_t falls.

    The proof leaves out the variance of the noise: docs/theory.md.
    """
    model = iterate(initial_distance=0.5, accuracy=0.1, noise_bound=1.0)
    model.update(np.array([[1.0, 0.0]]), np.array([0.5 + 1.0]))
    assert abs(model.beta[0] - 0.5) == pytest.approx(1.0)
    assert model.distance_ == pytest.approx(math.sqrt(0.24))


def test_bounded_noise_brings_the_iterate_near() -> None:
    """Noise of at most B = 0.2: where β stops, every mean is within L/γ·(α + 2B) of the truth."""
    rng = np.random.default_rng(3)
    target, d = rng.normal(size=4), 4
    method = Sgd(initial_distance=4.0, accuracy=0.2, noise_bound=0.2)
    learner = OneSidedLearner(method=method, cutoff=-1.0, fit_intercept=False)
    X = rng.normal(size=(2000, d))
    learner.fit(X[:1], X[:1] @ target)
    list(drive(learner, X, X @ target + rng.uniform(-0.2, 0.2, 2000), 1))
    off = np.abs(X[-500:] @ (learner.coef_ - target))
    assert np.linalg.norm(learner.coef_ - target) < 0.25 * np.linalg.norm(target)
    assert (off <= 0.2 + 2 * 0.2).mean() > 0.99


@pytest.mark.parametrize("link", ["logistic", "probit"])
@pytest.mark.parametrize("noise_bound", [0.5, 0.9, 1.0])
def test_binary_labels_never_trigger_an_update(link: str, noise_bound: float) -> None:
    """|ε| reaches ½ at least whatever the mean, and at β₀ = 0 no residual is above ½."""
    stream = make_stream(link)
    X0, y0, X, y = stream.ordered()
    learner = OneSidedLearner(link=link, method=Sgd(noise_bound=noise_bound), cutoff=0.1)
    list(drive(learner.fit(X0, y0), X, y, 1))
    assert learner.model.n_updates_ == 0
    np.testing.assert_array_equal(learner.coef_, 0.0)


def test_state_is_as_large_as_beta() -> None:
    """O(d): nothing grows with the rows, and no d × d matrix is kept."""
    learner = OneSidedLearner(method="sgd", cutoff=-9.0, fit_intercept=False)
    learner.fit(np.ones((3, 500)), np.ones(3))
    for _ in range(20):
        learner.learn(learner.decide(np.ones((1, 500))).ids, np.array([3.0]))
    assert sum(array.size for array in learner.model.state().values()) <= 500 + 3


@pytest.mark.parametrize("name", ["initial_distance", "accuracy", "distance_slack", "radius"])
@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf])
def test_bounds_must_bound(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"sgd: {name} must be a positive number"):
        Sgd(**{name: value})


def test_noise_may_be_absent_but_not_negative() -> None:
    Sgd(noise_bound=0.0)
    with pytest.raises(ValueError, match="sgd: noise_bound must be a number >= 0, got -1"):
        Sgd(noise_bound=-1.0)

"""Algorithm 2 with its constants, against the paper's formulas written out a second time."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

from pipeline.core.engine import Lane, grid
from pipeline.core.learner import OneSidedLearner
from pipeline.core.links import Linear, Logistic, Probit
from pipeline.core.methods import Setting, get_method
from pipeline.core.methods.checks.streams import LINK_NAMES, make_stream, run_engine
from pipeline.core.methods.ours_theory import OursTheory

BOUNDS = OursTheory(
    horizon=100,
    batch_size=4,
    feature_bound=2.0,
    coef_bound=1.5,
    noise_scale=0.5,
    min_eigenvalue=3.0,
    failure_probability=0.05,
)
LINKS = (Linear(), Logistic(), Probit())


def paper_rho(t: float, d: int, c: float, link: str, m: OursTheory) -> float:
    """ρ_t(δ) of Algorithm 2 with C of Theorem 2; η and L by looking at μ' on a fine grid."""
    N, B, M, phi = m.batch_size, m.feature_bound, m.coef_bound, m.noise_scale
    T, delta, lambda0 = m.horizon, m.failure_probability, m.min_eigenvalue
    z = np.linspace(-B * M, B * M, 200_001)
    derivative = {
        "linear": np.ones_like(z),
        "logistic": expit(z) * (1 - expit(z)),
        "probit": np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi),
    }[link]
    eta, L = derivative.min(), derivative.max()
    gamma = {"linear": 0.0, "logistic": 0.5, "probit": 0.5}[link]
    kappa = np.sqrt(3 + 2 * np.log(1 + 2 * N * B**2 / lambda0))
    C = L * B * M + gamma + c + phi * np.sqrt(np.log(2 * T / delta))
    return 2 * L / eta * kappa * C * np.sqrt(2 * d * np.log(t)) * np.sqrt(np.log(2 * d * T / delta))


# --- formulas -------------------------------------------------------------------------------------


def test_constants_by_hand() -> None:
    """κ² = 3 + 2 log(1 + 2·4·2²/3), C = LBM + γ + c + ½·sqrt(log 4000), η = μ'(3)."""
    assert BOUNDS.kappa() == pytest.approx(math.sqrt(3 + 2 * 2.456735772821304), rel=1e-12)
    noise = 0.5 * math.sqrt(8.294049640102028)
    by_hand = {"linear": 3.0 + 0.0 + 0.3, "logistic": 0.75 + 0.5 + 0.3}
    for link in (Linear(), Logistic()):
        expected = by_hand[link.name] + noise
        assert BOUNDS.response_bound(Setting(link, 5, 0.3)) == pytest.approx(expected, rel=1e-12)
    assert BOUNDS.min_slope(Linear()) == 1.0
    assert BOUNDS.min_slope(Logistic()) == pytest.approx(0.04517665973091213, rel=1e-12)
    assert BOUNDS.min_slope(Probit()) == pytest.approx(0.0044318484119380075, rel=1e-12)


@pytest.mark.parametrize("link", LINKS, ids=lambda link: link.name)
@pytest.mark.parametrize("t", [1, 2, 3, 100])
@pytest.mark.parametrize(("d", "c"), [(1, 0.0), (7, 0.6)])
def test_rho_is_that_of_the_paper(link, t: int, d: int, c: float) -> None:
    for method in (BOUNDS, OursTheory(), replace(BOUNDS, batch_size=1000, horizon=7)):
        expected = paper_rho(t, d, c, link.name, method)
        assert method.rho(t, Setting(link, d, c)) == pytest.approx(expected, rel=1e-9)


def test_rho_starts_at_0_and_grows() -> None:
    setting = Setting(Logistic(), 3, 0.5)
    rho = [BOUNDS.rho(t, setting) for t in (1, 2, 3, 50, 100)]
    assert rho[0] == 0.0
    assert np.all(np.diff(rho) > 0)


def test_bound_grows_with_the_size_of_the_cutoff() -> None:
    low, zero, high = (BOUNDS.response_bound(Setting(Linear(), 3, c)) for c in (-0.7, 0.0, 0.7))
    assert low == high == pytest.approx(zero + 0.7)


@pytest.mark.parametrize("link", LINKS, ids=lambda link: link.name)
def test_bonus_is_alpha_rho_width(link) -> None:
    """Through the learner, in every round; round 1 adds nothing."""
    stream = make_stream(link.name)
    X0, y0, X, y = stream.ordered()
    learner = OneSidedLearner(link=link, method=BOUNDS, cutoff=0.3, alpha=0.01).fit(X0, y0)
    for t in range(1, 6):
        rows = X[8 * t : 8 * t + 8]
        width = learner.width(rows)
        decision = learner.decide(rows)
        expected = 0.01 * paper_rho(t, X.shape[1] + 1, 0.3, link.name, BOUNDS) * width
        np.testing.assert_allclose(decision.bonus, expected, rtol=1e-9)
        assert t > 1 or not decision.bonus.any()
        learner.learn(decision.ids, y[8 * t : 8 * t + 8][decision.accepted])


def test_dimension_counts_the_constant_column() -> None:
    X0, y0, X, _ = make_stream().ordered()
    for fit_intercept, d in ((True, 5), (False, 4)):
        learner = OneSidedLearner(
            method=BOUNDS, cutoff=0.0, alpha=1.0, time="examples", fit_intercept=fit_intercept
        ).fit(X0, y0)
        expected = paper_rho(2, d, 0.0, "linear", BOUNDS) * learner.width(X[1:2])
        np.testing.assert_allclose(learner.decide(X[:2]).bonus[1:], expected, rtol=1e-9)


# --- bounds ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(vars(BOUNDS)))
@pytest.mark.parametrize("value", [0, -1.0, math.nan, math.inf])
def test_bounds_must_bound(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"ours_theory: {name} must be a positive number"):
        replace(BOUNDS, **{name: value})


@pytest.mark.parametrize("value", [1.0, 1.5])
def test_failure_must_be_able_not_to_happen(value: float) -> None:
    with pytest.raises(ValueError, match="failure_probability must be below 1"):
        replace(BOUNDS, failure_probability=value)


@pytest.mark.parametrize(("link", "product"), [("logistic", 800.0), ("probit", 50.0)])
def test_flat_link_is_named(link: str, product: float) -> None:
    stream = make_stream(link)
    X0, y0, _, _ = stream.ordered()
    method = replace(BOUNDS, feature_bound=product, coef_bound=1.0)
    message = f"the {link} link is flat .*{product:g}.* smaller bounds"
    with pytest.raises(ValueError, match=message):
        OneSidedLearner(link=link, method=method).fit(X0, y0)
    with pytest.raises(ValueError, match=message):
        run_engine(stream, [Lane(method, 1.0, 0.5, 0)])
    OneSidedLearner(link="linear", method=method).fit(X0, y0)


# --- model ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("link", LINK_NAMES)
def test_alpha_zero_is_greedy_while_the_fit_is_short(link: str) -> None:
    stream = make_stream(link)
    method = OursTheory(coef_bound=5.0)
    lanes = [Lane(method, 0.0, stream.cutoff, 0), *grid(["greedy"], [], [stream.cutoff], 1)]
    ours, greedy = run_engine(stream, lanes, batch_size=3).decisions
    np.testing.assert_array_equal(ours, greedy)
    assert 0 < greedy.sum() < greedy.size


@pytest.mark.parametrize("link", LINK_NAMES)
def test_long_fit_is_brought_back_to_the_ball(link: str) -> None:
    """‖β̂‖ > M without the bound; with it ‖β‖ = M, and the labels still decide where."""
    stream = make_stream(link)
    X0, y0, X, y = stream.ordered()
    free = OneSidedLearner(link=link, cutoff=-9.0, l2=0.1).fit(X0, y0)
    bound = OneSidedLearner(link=link, cutoff=-9.0, l2=0.1, method=OursTheory(coef_bound=0.4)).fit(
        X0, y0
    )
    for learner in (free, bound):
        learner.learn(learner.decide(X).ids, y)
    length = [math.hypot(*learner.coef_, learner.intercept_) for learner in (free, bound)]
    assert length[0] > 0.5
    assert length[1] == pytest.approx(0.4, rel=1e-9)
    assert np.corrcoef(free.predict(X), bound.predict(X))[0, 1] > 0.9


def test_huge_scales_do_not_break_the_projection() -> None:
    """A column to 7·10⁵ (EEG) beside a rare one that asks for a coefficient above the bound."""
    X = np.column_stack([np.linspace(-7e5, 7e5, 10_000), np.zeros(10_000)])
    X[5000, 1] = 1.0
    learner = OneSidedLearner(method=OursTheory(), l2=1e-6, fit_intercept=False)
    learner.fit(X, 3.0 * X[:, 1])
    np.testing.assert_allclose(learner.coef_, [0.0, 1.0], atol=1e-5)


# --- the confidence statement ---------------------------------------------------------------------


@pytest.mark.parametrize("link", ["linear", "logistic"])
@pytest.mark.parametrize("seed", range(3))
def test_confidence_holds_in_every_round(link: str, seed: int) -> None:
    """|μ(x'β*) − μ(x'β_t)| ≤ ρ_t·sqrt(x'A⁻¹x) for every row of the ball, t ≥ 2."""
    rng = np.random.default_rng(seed)
    n, d, batch, K = 400, 4, 10, 40
    X = rng.normal(size=(n, d))
    X /= np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1.0)
    beta = rng.normal(size=d)
    beta /= np.linalg.norm(beta)
    mean = X @ beta if link == "linear" else expit(X @ beta)
    y = mean + rng.uniform(-0.5, 0.5, n) if link == "linear" else (rng.random(n) < mean) * 1.0
    method = OursTheory(
        horizon=(n - K) // batch,
        batch_size=batch,
        min_eigenvalue=float(np.linalg.eigvalsh(X[:K].T @ X[:K])[0]),
    )
    learner = OneSidedLearner(
        link=link, method=method, cutoff=0.5, alpha=1.0, l2=0.0, fit_intercept=False,
        grow="acceptance",
    ).fit(X[:K], y[:K])  # fmt: skip
    setting = Setting(learner.spec.link, d, 0.5)
    tightest, needed = math.inf, 0.0
    for t in range(1, method.horizon + 1):
        error = np.abs(mean - learner.predict(X))
        width = learner.width(X)
        assert (np.hypot.reduce(learner.coef_)) <= 1.0 + 1e-9
        if t > 1:
            assert (error <= method.rho(t, setting) * width).all()
            tightest = min(tightest, (method.rho(t, setting) * width / error).min())
            needed = max(needed, (error / width).max())
        rows = slice(K + (t - 1) * batch, K + t * batch)
        decision = learner.decide(X[rows])
        learner.learn(decision.ids, y[rows][decision.accepted])
    assert needed > 0.1  # there was something to bound,
    assert tightest < 2000.0  # and the bound is not beyond all measure


def test_registry_gives_the_defaults() -> None:
    assert get_method("ours_theory") == OursTheory()

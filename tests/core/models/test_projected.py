"""The projection of Algorithm 2 against scipy's constrained minimisers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

from pipeline.core.links import LINKS
from pipeline.core.models.base import ModelSpec
from pipeline.core.models.glm import GLM
from pipeline.core.models.projected import ProjectedGLM, nearest_in_ball
from tests.core.reference import CURVES, Curve, design, ridge_penalty


def make_data(d: int, link: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, d)) * np.geomspace(0.3, 3.0, d)
    z = X @ rng.normal(size=d) + 0.5
    y = z + 0.3 * rng.normal(size=60) if link == "linear" else (z > rng.logistic(size=60))
    return X, y.astype(np.float64)


def beta_of(model: GLM) -> np.ndarray:
    return np.append(model.coef_, [model.intercept_] * model.spec.fit_intercept)


def distance(
    beta: np.ndarray, target: np.ndarray, D: np.ndarray, penalty: np.ndarray, curve: Curve
) -> float:
    """‖g(β) − g(target)‖ in the norm of A⁻¹, squared; g(β) = l2·β + Σ x μ(x'β)."""
    A = np.diag(penalty) + D.T @ D
    r = penalty * (beta - target) + D.T @ (curve.mean(D @ beta) - curve.mean(D @ target))
    return float(r @ np.linalg.solve(A, r))


def scipy_minimum(objective: object, target: np.ndarray, radius: float) -> tuple[np.ndarray, float]:
    """Return the best of several starts, each brought into the ball."""
    rng = np.random.default_rng(0)
    starts = [target * radius / np.linalg.norm(target), 0 * target]
    starts += [radius * v / np.linalg.norm(v) for v in rng.normal(size=(6, len(target)))]
    ball = {"type": "ineq", "fun": lambda b: radius**2 - b @ b}
    found = [
        minimize(objective, s, method="SLSQP", constraints=ball, options={"ftol": 1e-15}).x
        for s in starts
    ]
    inside = [b * min(1.0, radius / np.linalg.norm(b)) for b in found]
    best = min(inside, key=objective)
    return best, objective(best)


@pytest.mark.parametrize("link", LINKS)
def test_inside_the_ball_nothing_changes(link: str) -> None:
    X, y = make_data(3, link, seed=0)
    spec = ModelSpec(LINKS[link])
    plain, projected = GLM(spec), ProjectedGLM(spec, coef_bound=1e3)
    for model in (plain, projected):
        model.fit(X[:30], y[:30])
        model.update(X[30:], y[30:])
    assert_array_equal(projected.score(X), plain.score(X))
    assert_array_equal(projected.width(X), plain.width(X))
    assert_array_equal(projected.coef_, plain.coef_)
    assert projected.intercept_ == plain.intercept_


@pytest.mark.parametrize("share", [0.9, 0.5, 0.1])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("d", [2, 3, 4])
@pytest.mark.parametrize("link", LINKS)
def test_outside_it_is_the_nearest_point(link: str, d: int, intercept: bool, share: float) -> None:
    X, y = make_data(d, link, seed=d)
    spec = ModelSpec(LINKS[link], l2=0.5, fit_intercept=intercept)
    plain = GLM(spec)
    plain.fit(X, y)
    target = beta_of(plain)
    radius = share * float(np.linalg.norm(target))
    model = ProjectedGLM(spec, radius)
    model.fit(X[:20], y[:20])
    model.update(X[20:], y[20:])

    D, penalty = design(X, intercept), ridge_penalty(d, 0.5, intercept, True)

    def objective(beta: np.ndarray) -> float:
        return distance(beta, target, D, penalty, CURVES[link])

    found = beta_of(model)
    expected, value = scipy_minimum(objective, target, radius)
    assert np.linalg.norm(found) <= radius * (1 + 1e-12)
    assert objective(found) <= value * (1 + 1e-6) + 1e-12
    assert_allclose(found, expected, rtol=0, atol=1e-3 * radius)
    assert_allclose(model.score(X), CURVES[link].mean(D @ found), rtol=1e-10, atol=1e-12)
    assert_array_equal(model.width(X), plain_width(spec, X, y))


def plain_width(spec: ModelSpec, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    model = GLM(spec)
    model.fit(X[:20], y[:20])
    model.update(X[20:], y[20:])
    return model.width(X)


def test_terms_waiting_in_a_block_count() -> None:
    """With 40 columns rows wait before they reach A; the projection needs them all."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 40))
    y = X @ rng.normal(size=40)
    spec = ModelSpec(fit_intercept=False)
    one_by_one, at_once = ProjectedGLM(spec, 2.0), ProjectedGLM(spec, 2.0)
    at_once.fit(X[:93], y[:93])
    one_by_one.fit(X[:50], y[:50])
    for i in range(50, 93):
        one_by_one.update(X[i : i + 1], y[i : i + 1])
    assert_allclose(one_by_one.coef_, at_once.coef_, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("link", LINKS)
def test_the_fit_itself_is_not_projected(link: str) -> None:
    """A projection is for scoring; the next round starts from the fit, not from the projection."""
    X, y = make_data(3, link, seed=1)
    free, bound = GLM(ModelSpec(LINKS[link])), ProjectedGLM(ModelSpec(LINKS[link]), 0.2)
    bound.fit(X[:20], y[:20])
    assert np.linalg.norm(beta_of(bound)) == pytest.approx(0.2, rel=1e-9)
    bound.coef_bound = 1e3
    bound.update(X[20:], y[20:])
    free.fit(X, y)
    assert_allclose(bound.score(X), free.score(X), rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("link", LINKS)
def test_restored_model_projects_too(link: str) -> None:
    X, y = make_data(3, link, seed=2)
    model, restored = (ProjectedGLM(ModelSpec(LINKS[link]), 0.3) for _ in "ab")
    model.fit(X[:40], y[:40])
    restored.restore(model.state())
    assert_array_equal(restored.score(X), model.score(X))
    for one in (model, restored):
        one.update(X[40:], y[40:])
    assert_array_equal(restored.score(X), model.score(X))


@settings(deadline=None, max_examples=200)
@given(
    d=st.integers(1, 6),
    log_cond=st.floats(0, 14),
    share=st.one_of(st.floats(0.01, 1.0, exclude_max=True), st.just(1 - 1e-15)),
    seed=st.integers(0, 2**32 - 1),
)
def test_nearest_point_meets_the_conditions_of_optimality(
    d: int, log_cond: float, share: float, seed: int
) -> None:
    """On the sphere Q(target − β) = ν·β with ν ≥ 0 (Karush, Kuhn, Tucker)."""
    rng = np.random.default_rng(seed)
    V = np.linalg.qr(rng.normal(size=(d, d)))[0]
    Q = (V * np.geomspace(1.0, 10.0**-log_cond, d)) @ V.T
    Q, target = (Q + Q.T) / 2, rng.normal(size=d)
    radius = share * float(np.linalg.norm(target))
    beta = nearest_in_ball(Q, target, radius)
    assert np.linalg.norm(beta) == pytest.approx(radius, rel=1e-9)
    pull = Q @ (target - beta)
    nu = float(pull @ beta) / radius**2
    assert nu >= -1e-14
    assert_allclose(pull, nu * beta, rtol=0, atol=1e-13 + 1e-8 * np.linalg.norm(pull))


def test_bad_scales_are_projected_too() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3)) * np.array([1e-3, 1.0, 7e5])
    for seed in range(5):
        y = (np.random.default_rng(seed).random(50) < 0.5).astype(float)
        for link in LINKS.values():
            spec = ModelSpec(link, l2=0.01)
            plain = GLM(spec)
            plain.fit(X, y)
            radius = 0.9 * float(np.linalg.norm(beta_of(plain)))
            model = ProjectedGLM(spec, radius)
            model.fit(X, y)
            assert np.linalg.norm(beta_of(model)) <= radius * (1 + 1e-9)

"""The GLM against numpy, scikit-learn and scipy: every link, table, intercept and penalty."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import root
from sklearn.linear_model import LogisticRegression

from pipeline.core.kernels.rows import layout
from pipeline.core.links import LINKS
from pipeline.core.models.base import ModelSpec
from pipeline.core.models.glm import GLM
from tests.core.reference import (
    CURVES,
    FEATURES,
    Table,
    assert_scores,
    best_fit,
    design,
    gram,
    make_table,
    ridge_penalty,
    scale_free_cond,
    solve,
    widths,
)

INTERCEPTS = {"penalised": (True, True), "free": (True, False), "none": (False, False)}
every_intercept = pytest.mark.parametrize("intercept", INTERCEPTS)
every_l2 = pytest.mark.parametrize("l2", [0.01, 1.0, 100.0])
every_link = pytest.mark.parametrize("link", LINKS)


def make_model(link: str = "linear", intercept: str = "penalised", **settings: object) -> GLM:
    fit, penalised = INTERCEPTS[intercept]
    return GLM(ModelSpec(LINKS[link], fit_intercept=fit, penalize_intercept=penalised, **settings))


def labels(table: Table, link: str) -> np.ndarray:
    return table.real if link == "linear" else table.binary


def assert_optimal(model: GLM, X: np.ndarray, y: np.ndarray) -> None:
    """Scores and widths after learning X, y are those of a refit from scratch."""
    spec = model.spec
    D = design(X, spec.fit_intercept)
    penalty = ridge_penalty(X.shape[1], spec.l2, spec.fit_intercept, spec.penalize_intercept)
    A, curve = gram(D, penalty), CURVES[spec.link.name]
    if spec.link.name == "linear":
        beta, H = solve(A, D.T @ y.astype(np.longdouble)), A
    else:
        beta, H = best_fit(D, y, penalty, curve)
    assert_scores(model.score(X), curve.mean(D @ beta), scale_free_cond(H))
    assert_scores(model.width(X), widths(D, A), scale_free_cond(A))


@every_intercept
@every_l2
@pytest.mark.parametrize("name", FEATURES)
def test_linear_link_is_a_refit_in_every_round(name: str, l2: float, intercept: str) -> None:
    table, model = make_table(name, n=80), make_model(intercept=intercept, l2=l2)
    model.fit(table.X[:3], table.real[:3])
    for n in range(3, 80):
        assert_optimal(model, table.X[:n], table.real[:n])
        model.update(table.X[n : n + 1], table.real[n : n + 1])


@every_link
@pytest.mark.parametrize("batch", [1, 7, 100])
@pytest.mark.parametrize("name", FEATURES)
def test_updates_equal_one_fit_on_everything(name: str, batch: int, link: str) -> None:
    table = make_table(name)
    y = labels(table, link)
    model, at_once = make_model(link), make_model(link)
    model.fit(table.X[:5], y[:5])
    for first, last in pairwise([*range(5, 300, batch), 300]):
        model.update(table.X[first:last], y[first:last])
    at_once.fit(table.X, y)
    assert_optimal(model, table.X, y)
    assert_optimal(at_once, table.X, y)


def test_ten_thousand_linear_updates() -> None:
    table, model = make_table("eeg", n=10_000), make_model()
    model.fit(table.X[:20], table.real[:20])
    for i in range(20, 10_000):
        model.update(table.X[i : i + 1], table.real[i : i + 1])
    assert_optimal(model, table.X, table.real)


def sklearn_scores(X: np.ndarray, y: np.ndarray, **settings: object) -> np.ndarray:
    model = LogisticRegression(tol=1e-10, max_iter=100_000, **settings).fit(X, y)
    return model.predict_proba(X)[:, 1]


@every_l2
@pytest.mark.parametrize("name", ["random", "one_hot", "collinear", "churn", "separable", "wide"])
def test_logistic_link_against_scikit_learn(name: str, l2: float) -> None:
    table = make_table(name)
    X, y = table.X, table.binary
    truth = sklearn_scores(
        design(X, True), y, C=1 / l2, solver="newton-cholesky", fit_intercept=False
    )
    model = make_model("logistic", l2=l2)
    model.fit(X[:50], y[:50])
    model.update(X[50:], y[50:])
    assert_allclose(model.score(X), truth, rtol=0, atol=1e-8)


@every_l2
@pytest.mark.parametrize("name", ["random", "one_hot", "collinear"])
@pytest.mark.parametrize(
    ("intercept", "solver"), [("free", "lbfgs"), ("penalised", "liblinear"), ("none", "lbfgs")]
)
def test_intercepts_are_those_of_scikit_learn(
    name: str, intercept: str, solver: str, l2: float
) -> None:
    """These solvers stop earlier, whatever the tolerance, so that the limit is 1e-5."""
    table = make_table(name)
    fit_intercept = INTERCEPTS[intercept][0]
    truth = sklearn_scores(
        table.X, table.binary, C=1 / l2, solver=solver, fit_intercept=fit_intercept
    )
    model = make_model("logistic", intercept, l2=l2)
    model.fit(table.X, table.binary)
    assert_allclose(model.score(table.X), truth, rtol=0, atol=1e-5)


@every_l2
@every_intercept
def test_probit_link_solves_its_equation(l2: float, intercept: str) -> None:
    table = make_table("random")
    fit, penalised = INTERCEPTS[intercept]
    D, penalty = design(table.X, fit), ridge_penalty(6, l2, fit, penalised)
    curve = CURVES["probit"]
    found = root(
        lambda beta: D.T @ (table.binary - curve.mean(D @ beta)) - penalty * beta,
        np.zeros(D.shape[1]),
        tol=1e-13,
    )
    model = make_model("probit", intercept, l2=l2)
    model.fit(table.X, table.binary)
    assert_allclose(model.score(table.X), curve.mean(D @ found.x), rtol=0, atol=1e-9)
    beta = np.append(model.coef_, [model.intercept_] * fit)
    assert_allclose(beta, found.x, rtol=1e-7, atol=1e-9)


@every_link
@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("name", ["one_hot", "eeg"])
def test_layout_does_not_matter(name: str, sparse: bool, link: str) -> None:
    table, model = make_table(name), make_model(link)
    y = labels(table, link)
    rows = layout(table.X, constant=True, sparse=sparse)
    model.fit_rows(rows, 200, np.concatenate([y[:200], np.full(100, np.nan)]))
    assert_optimal(model, table.X[:200], y[:200])


@every_link
def test_width_grows_with_the_label_or_at_acceptance(link: str) -> None:
    X, y = make_table("random").X, labels(make_table("random"), link)
    D, penalty = design(X, True), np.full(7, 0.5)
    models = {grow: make_model(link, l2=0.5, grow=grow) for grow in ("label", "acceptance")}
    for grow, model in models.items():
        model.fit(X[:40], y[:40])
        model.accept(X[40:70])
        seen = 40 if grow == "label" else 70
        assert_allclose(model.width(X), widths(D, gram(D[:seen], penalty)), rtol=1e-10)
        model.update(X[40:60], y[40:60])
        seen = 60 if grow == "label" else 70
        assert_allclose(model.width(X), widths(D, gram(D[:seen], penalty)), rtol=1e-10)
    assert_array_equal(models["label"].score(X), models["acceptance"].score(X))


@pytest.mark.parametrize("name", ["random", "wide"])
def test_forgotten_rows_leave_the_width(name: str) -> None:
    X, y = make_table(name).X, make_table(name).real
    D, penalty = design(X, True), np.full(X.shape[1] + 1, 0.5)
    model = make_model(l2=0.5, grow="acceptance")
    model.fit(X[:40], y[:40])
    model.accept(X[40:70])
    model.update(X[40:53], y[40:53])
    model.forget(X[60:70])
    kept = np.r_[0:53, 60:70]
    assert_allclose(model.width(X), widths(D, gram(D[kept], penalty)), rtol=1e-10)
    model.forget(X[:0])
    assert_allclose(model.width(X), widths(D, gram(D[:53], penalty)), rtol=1e-10)


@every_link
def test_contrast_is_twice_the_mean_less_a_half(link: str) -> None:
    X, y = make_table("random").X, labels(make_table("random"), link)
    mean, contrast = make_model(link), make_model(link, score="contrast")
    for model in (mean, contrast):
        model.fit(X, y)
    assert_allclose(contrast.score(X), 2 * mean.score(X) - 0.5, rtol=1e-15, atol=1e-15)


@every_link
@pytest.mark.parametrize("grow", ["label", "acceptance"])
@pytest.mark.parametrize("name", ["random", "wide"])
def test_restored_model_continues_bit_by_bit(name: str, grow: str, link: str) -> None:
    X, y = make_table(name).X, labels(make_table(name), link)
    model, restored = (make_model(link, grow=grow) for _ in "ab")
    model.fit(X[:30], y[:30])
    model.accept(X[30:60])
    for i in range(30, 53):
        model.update(X[i : i + 1], y[i : i + 1])
    state = model.state()
    restored.restore(state)
    for array in state.values():
        array[...] = 0  # the restored model has arrays of its own
    for one in (model, restored):
        one.accept(X[60:70])
        one.update(X[53:54], y[53:54])
        one.update(X[54:200], y[54:200])
    assert_array_equal(restored.score(X), model.score(X))
    assert_array_equal(restored.width(X), model.width(X))


@every_link
@pytest.mark.parametrize("n", [3, 40, 2000])
def test_singular_start_without_penalty_is_refused(link: str, n: int) -> None:
    for seed in range(10):
        X = np.random.default_rng(seed).normal(size=(n, 3))
        X = np.column_stack([X, X[:, 0] + X[:, 1]])
        with pytest.raises(ValueError, match=r"singular.*l2 > 0"):
            make_model(link, l2=0.0).fit(X, (np.arange(n) % 2).astype(float))


def test_regular_start_without_penalty_is_least_squares() -> None:
    table, model = make_table("eeg"), make_model(l2=0.0)
    model.fit(table.X, table.real)
    assert_optimal(model, table.X, table.real)


@pytest.mark.parametrize("link", ["logistic", "probit"])
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_separable_start_without_penalty_is_refused(link: str, intercept: str) -> None:
    table = make_table("separable")
    with pytest.raises(ValueError, match=r"no finite optimum.*l2 > 0"):
        make_model(link, intercept, l2=0.0).fit(table.X, table.binary)


@pytest.mark.parametrize("link", ["logistic", "probit"])
def test_one_class_with_a_free_intercept_is_refused(link: str) -> None:
    X = make_table("random").X
    with pytest.raises(ValueError, match=r"one class.*intercept"):
        make_model(link, "free").fit(X, np.ones(len(X)))


def test_refused_fit_leaves_the_model_as_it_was() -> None:
    table, model = make_table("random"), make_model(l2=0.0)
    with pytest.raises(RuntimeError, match="call fit"):
        model.score(table.X)
    model.fit(table.X, table.real)
    before = model.score(table.X)
    with pytest.raises(ValueError, match="singular"):
        model.fit(table.X[:3], table.real[:3])
    assert_array_equal(model.score(table.X), before)
    model.fit(table.X[:50], table.real[:50])  # from scratch
    assert_optimal(model, table.X[:50], table.real[:50])

"""The solver's kernels against Newton's method in extended precision, in every awkward corner."""

from collections.abc import Iterable

import numpy as np
import pytest

from pipeline.core.kernels import solver
from pipeline.core.kernels.jit import compile_link, entry
from pipeline.core.kernels.memory import copy_memory, fit_of, make_memory, state_of
from pipeline.core.kernels.rows import dense_rows, sparse_rows
from pipeline.core.links import LINKS
from tests.core.reference import (
    CURVES,
    FEATURES,
    assert_scores,
    best_fit,
    design,
    gram,
    make_table,
    ridge_penalty,
    scale_free_cond,
)

LAYOUTS = {"dense": dense_rows, "sparse": sparse_rows}
both_layouts = pytest.mark.parametrize("name", LAYOUTS)
binary_links = pytest.mark.parametrize("link", ["logistic", "probit"])
INTERCEPTS = {"penalised": (True, True), "free": (True, False), "none": (False, False)}


@entry
def refit(memory, link, rows, ids, n_old, n, y):
    return solver.refit(rows, ids, n_old, n, y, fit_of(memory, link))


@entry
def add_gradient(memory, link, rows, ids, first, last, y, beta, out):
    solver.add_gradient(rows, ids, first, last, y, beta, fit_of(memory, link), out)


@entry
def add_hessian(memory, link, rows, ids, first, last, beta, H):
    fit = fit_of(memory, link)
    for j in range(len(beta)):
        fit.beta[j] = beta[j]
        for k in range(len(beta)):
            fit.H[j, k] = 0.0
    solver.add_hessian(rows, ids, first, last, fit)
    for j in range(len(beta)):
        for k in range(len(beta)):
            H[j, k] = fit.H[j, k]


@entry
def full_gradient(memory, link, rows, ids, n, y, beta, out):
    solver.full_gradient(rows, ids, n, y, beta, fit_of(memory, link), out)


class Problem:
    """Rows that arrive in portions, and the solver that follows them."""

    def __init__(self, D: np.ndarray, y: np.ndarray, penalty: np.ndarray, link: str) -> None:
        self.D, self.y, self.penalty, self.link = D, y, penalty, link
        self.rows, self.ids, self.n = dense_rows(D), np.arange(len(D)), 0
        self.memory = make_memory(penalty, refits=True)
        self.pointers = [compile_link(f) for f in (LINKS[link].mean, LINKS[link].slope)]

    @property
    def beta(self) -> np.ndarray:
        return state_of(self.memory).beta

    @property
    def solver(self) -> tuple:
        return self.memory, tuple(pointer.address for pointer in self.pointers)

    def learn(self, n: int) -> bool:
        """Move to the optimum over the first n rows."""
        n_old, self.n = self.n, n
        return refit(*self.solver, self.rows, self.ids, n_old, n, self.y)

    def learn_all(self, stops: Iterable[int]) -> None:
        for n in stops:
            assert self.learn(n), f"no convergence with {n} rows"

    def check(self, probes: np.ndarray | None = None, least: float = 0.0) -> None:
        """Scores of the rows learned, or of other rows, are those of the true optimum."""
        learned, curve = self.ids[: self.n], CURVES[self.link]
        beta, H = best_fit(self.D[learned], self.y[learned], self.penalty, curve)
        D = self.D[learned] if probes is None else probes
        found = curve.mean(D @ self.beta)
        assert_scores(found, curve.mean(D @ beta), scale_free_cond(H), least)


def make_problem(
    table: str, link: str, l2: float, intercept: str, n: int = 300, seed: int = 0
) -> Problem:
    data = make_table(table, n, seed)
    fit_intercept, penalised = INTERCEPTS[intercept]
    penalty = ridge_penalty(data.X.shape[1], l2, fit_intercept, penalised)
    return Problem(design(data.X, fit_intercept), data.binary, penalty, link)


@both_layouts
@pytest.mark.parametrize("link", LINKS)
def test_gradient_and_hessian(name: str, link: str) -> None:
    problem = make_problem("one_hot", link, 0.7, "penalised", n=200)
    D, y, curve = problem.D, problem.y, CURVES[link]
    rng = np.random.default_rng(0)
    ids, beta, d = rng.permutation(200), rng.normal(size=D.shape[1]), D.shape[1]
    rows = LAYOUTS[name](D)
    used, z = ids[3:150], D[ids[3:150]] @ beta

    start, out = rng.normal(size=d), np.empty(d)
    out[:] = start
    add_gradient(*problem.solver, rows, ids, 3, 150, y, beta, out)
    gradient = D[used].T @ (curve.mean(z) - y[used])
    np.testing.assert_allclose(out, start + gradient, rtol=1e-11, atol=1e-11)

    H = np.zeros((d, d))
    add_hessian(*problem.solver, rows, ids, 3, 150, beta, H)
    truth = gram(D[used], np.zeros(d), curve.slope(z)).astype(float)
    np.testing.assert_allclose(np.tril(H), np.tril(truth), rtol=1e-11, atol=1e-11)

    full_gradient(*problem.solver, rows, ids, 200, y, beta, out)
    gradient = D.T @ (curve.mean(D @ beta) - y) + 0.7 * beta
    np.testing.assert_allclose(out, gradient, rtol=1e-11, atol=1e-10)


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("l2", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("table", FEATURES)
@binary_links
def test_first_fit(table: str, link: str, l2: float, intercept: str) -> None:
    problem = make_problem(table, link, l2, intercept)
    assert problem.learn(300)
    problem.check()


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("l2", [0.01, 1.0, 100.0])
@pytest.mark.parametrize(
    ("table", "seed"), [(name, 0) for name in FEATURES] + [("eeg", seed) for seed in (1, 2, 3)]
)
@binary_links
def test_refit_after_every_batch(
    table: str, seed: int, link: str, l2: float, intercept: str
) -> None:
    """From fewer rows than columns on, in batches of 1, 7 and 100."""
    problem = make_problem(table, link, l2, intercept, seed=seed)
    both_classes = int(np.flatnonzero(problem.y != problem.y[0])[0]) + 1
    first = max(both_classes, 4)
    problem.learn_all([first, *range(first + 1, 60)])
    problem.check()
    problem.learn_all(range(66, 200, 7))
    problem.check()
    problem.learn_all([300])
    problem.check()


@both_layouts
@binary_links
def test_order_and_layout_do_not_matter(name: str, link: str) -> None:
    problem = make_problem("one_hot", link, 0.01, "penalised")
    problem.rows = LAYOUTS[name](problem.D)
    problem.ids = np.random.default_rng(1).permutation(300)
    problem.learn_all([50, 51, 170])
    problem.check()


def test_linear_link_is_ridge_regression() -> None:
    data = make_table("eeg")
    D, penalty = design(data.X, True), np.ones(9)
    problem = Problem(D, data.real, penalty, "linear")
    problem.learn_all([5, 100, 300])
    problem.check()


@binary_links
@pytest.mark.parametrize("table", ["random", "eeg"])
def test_optimum_is_found_from_a_contrary_one(table: str, link: str) -> None:
    problem = make_problem(table, link, 0.01, "penalised")
    problem.y = problem.y.copy()
    problem.y[:40] = 1.0 - problem.y[:40]
    problem.learn_all([40, 300])
    problem.check()


@binary_links
@pytest.mark.parametrize("label", [0.0, 1.0])
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_outlier_of_either_class(link: str, label: float, intercept: str) -> None:
    """One value of 7·10⁵ among values near 4000, of the class nobody expected."""
    problem = make_problem("eeg", link, 1.0, intercept, n=60, seed=4)
    problem.D = np.minimum(problem.D, 5000.0)
    problem.D[50, 2] = 7e5
    problem.y[50] = label
    problem.rows = dense_rows(problem.D)
    problem.learn_all([50, 51, 60])
    problem.check()


@binary_links
@pytest.mark.parametrize("batch", [1, 20])
@pytest.mark.parametrize(("margin", "l2"), [(1.0, 0.01), (3.0, 0.01), (30.0, 0.01), (100.0, 1.0)])
def test_errors_do_not_add_up_when_every_row_is_a_certain_one(
    link: str, batch: int, margin: float, l2: float
) -> None:
    """Two clouds far apart: each new row changes almost nothing, thousands of times."""
    rng = np.random.default_rng(0)
    side = rng.choice([-1.0, 1.0], size=2000)
    away = side * margin * (1 + 0.2 * np.abs(rng.normal(size=2000)))
    X = np.column_stack([away, 0.3 * margin * rng.normal(size=2000), rng.normal(size=2000)])
    problem = Problem(design(X, True), (side > 0).astype(float), np.full(4, l2), link)
    problem.learn_all([10, *range(10 + batch, 2001, batch)])
    between = design(margin * rng.normal(size=(200, 3)), True)
    problem.check(between)


@binary_links
@pytest.mark.parametrize("scale", [1.0, 4e3, 7e5])
@pytest.mark.parametrize("labels", ["one class", "separable"])
@pytest.mark.parametrize("l2", [0.01, 1.0])
def test_far_optimum_is_an_optimum(link: str, scale: float, labels: str, l2: float) -> None:
    """A small penalty on huge columns: β lies where all slopes almost vanish, but it exists."""
    X = scale * np.random.default_rng(1).normal(size=(40, 3))
    y = np.ones(40) if labels == "one class" else (X[:, 0] > 0.3 * X[:, 1]).astype(float)
    problem = Problem(X, y, np.full(3, l2), link)
    problem.learn_all([1, 2, 3, 20, 40])
    problem.check()


def random_problem(seed: int) -> Problem:
    """Anything a table may be: heavy tails, one-hot, bad scales, collinear, rare or no classes."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(5, 150)), int(rng.integers(1, 9))
    X = [rng.normal(size=(n, d)), rng.standard_t(2, size=(n, d)), rng.integers(0, 2, (n, d))][
        rng.integers(3)
    ] * 10 ** rng.uniform(*[(0, 0), (-3, 3), (0, 5)][rng.integers(3)], size=d)
    X = X + X.std(axis=0) * rng.choice([0, 0, 80])
    if d > 2 and rng.random() < 0.3:
        X[:, -1] = X[:, 0] + X[:, 1]
    z = (X - X.mean(axis=0)) / (X.std(axis=0) + 1e-9) @ rng.normal(size=d)
    y = [z > 0, rng.random(n) < 1 / (1 + np.exp(-z)), rng.random(n) < 0.02][rng.integers(3)]
    fit_intercept, penalised = list(INTERCEPTS.values())[rng.integers(3)]
    l2 = 10 ** rng.uniform(-2, 2)
    penalty = ridge_penalty(d, l2, fit_intercept, penalised or y.all() or not y.any())
    link = ["logistic", "probit"][rng.integers(2)]
    return Problem(design(X, fit_intercept), y.astype(np.float64), penalty, link)


def follow_random_problems(seeds: Iterable[int], allowed: int = 0, least: float = 0.0) -> None:
    """Every one must converge after every batch and end at the optimum; all failures are told."""
    failures = []
    for seed in seeds:
        problem, rng = random_problem(seed), np.random.default_rng(seed)
        y, n = problem.y, int(rng.integers(1, 10))
        if problem.penalty[-1] == 0.0:  # a free intercept needs both classes
            n = max(n, int(np.flatnonzero(y != y[0])[0]) + 1)
        try:
            while n < len(y):
                problem.learn_all([n])
                n += int(rng.choice([1, 3, 20, 100]))
            problem.learn_all([len(y)])
            problem.check(least=least)
        except AssertionError as error:
            failures.append(f"seed {seed}: {str(error).splitlines()[0]}")
    assert len(failures) <= allowed, "\n".join(failures)


@pytest.mark.parametrize("first", range(0, 1000, 100))
def test_random_problems(first: int) -> None:
    follow_random_problems(range(first, first + 100))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 21_000, 1000))
def test_many_random_problems(first: int) -> None:
    """Few of many may miss 1e-8: where every row is certain, residuals have few digits left."""
    follow_random_problems(range(first, first + 1000), allowed=3, least=1e-6)


@binary_links
def test_no_optimum_is_reported(link: str) -> None:
    for seed in range(5):
        assert not make_problem("separable", link, 0.0, "penalised", n=60, seed=seed).learn(60)


def test_rows_of_zeros_change_nothing() -> None:
    problem = make_problem("random", "logistic", 1.0, "none", n=60)
    problem.D[30:40] = 0.0
    problem.rows = dense_rows(problem.D)
    assert problem.learn(30)
    before = problem.beta.copy()
    problem.learn_all(range(31, 41))
    np.testing.assert_allclose(problem.beta, before, rtol=1e-9)
    problem.learn_all([60])
    problem.check()


def test_copy_continues_bit_by_bit() -> None:
    problem = make_problem("random", "logistic", 1.0, "penalised")
    problem.learn_all([20, 21, 60])
    kept = copy_memory(problem.memory)
    problem.learn_all([61, 300])
    expected = problem.beta.copy()
    problem.memory, problem.n = kept, 60
    assert not np.array_equal(problem.beta, expected)
    problem.learn_all([61, 300])
    np.testing.assert_array_equal(problem.beta, expected)

"""Algorithm 1: observe K + S rows, choose once, never change."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.core.learner import OneSidedLearner
from pipeline.core.links import Logistic
from pipeline.core.methods.checks.streams import LINK_NAMES, drive, make_stream
from pipeline.core.methods.passive import Passive, PassiveCover
from pipeline.core.methods.passive.patterns import (
    MAX_PATTERNS,
    all_patterns,
    pattern_count,
    some_patterns,
)
from pipeline.core.models.base import ModelSpec
from tests.core.methods.sign_patterns import feasible_patterns, has_solution

METHODS = (Passive(horizon=60), PassiveCover(horizon=60, n_patterns=40))  # K + S = 4 + 16


def fitted(method: Passive, link: str = "linear", cutoff: float | None = None, **options):
    stream = make_stream(link, d=3)
    cutoff = stream.cutoff if cutoff is None else cutoff
    learner = OneSidedLearner(link=link, method=method, cutoff=cutoff, **options)
    X0, y0, X, y = stream.ordered()
    return learner.fit(X0, y0), X0, y0, X, y


@pytest.mark.parametrize(("T", "K", "S"), [(27, 3, 9), (28, 4, 10), (1000, 10, 100), (1, 1, 1)])
def test_sizes_follow_the_horizon(T: int, K: int, S: int) -> None:
    method = Passive(horizon=T)
    assert (method.discretization_size, method.exploration_size) == (K, S)
    million = Passive(horizon=10**6)
    assert (million.discretization_size, million.exploration_size) == (100, 10_000)


# --- the class ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("intercept", "z"), [(False, 0.0), (False, 0.4), (True, 0.0), (True, 0.4)])
def test_class_has_one_representative_a_pattern(intercept: bool, z: float) -> None:
    X = np.random.default_rng(1).normal(size=(6, 2))
    rows = np.column_stack([X, np.ones(6)]) if intercept else X
    class_ = all_patterns(rows, z, intercept=intercept)
    found = [tuple(row) for row in (class_ @ rows.T >= z).tolist()]
    if not intercept and z == 0.0:
        assert found[0] == (True,) * 6  # the tie of β = 0
        found = found[1:]
    assert (
        len(found)
        == len(set(found))
        == pattern_count(6, rows.shape[1], central=z == 0 or intercept)
    )
    assert set(found) == feasible_patterns(rows, z)


def test_counts_differ_between_the_three_cases() -> None:
    """Ten rows with two features: homogeneous, affine without an intercept, with one."""
    assert pattern_count(10, 2, central=True) == 20
    assert pattern_count(10, 2, central=False) == 56
    assert pattern_count(10, 3, central=True) == 92


def test_random_cover_is_made_of_patterns_of_the_class_and_seeded() -> None:
    rows = np.random.default_rng(2).normal(size=(9, 4))
    drawn = some_patterns(rows, 0.3, n=50, seed=1)
    assert all(has_solution(rows, 0.3, beta @ rows.T > 0.3) for beta in drawn)
    assert len(np.unique(drawn @ rows.T > 0.3, axis=0)) > 30
    np.testing.assert_array_equal(drawn, some_patterns(rows, 0.3, n=50, seed=1))
    assert (drawn != some_patterns(rows, 0.3, n=50, seed=2)).any()


# --- the choice -----------------------------------------------------------------------------------


def utility_loss(X: np.ndarray, y: np.ndarray, c: float, accepts) -> float:
    """Σ u_t(x_t, a_t) as Section 4 defines it, row by row."""
    total = 0.0
    for x, label in zip(X, y, strict=True):
        if (label > c) != accepts(x):
            total += abs(label - c)
    return total


@pytest.mark.parametrize("link", LINK_NAMES)
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("score", ["mean", "contrast"])
def test_no_member_of_the_class_loses_less(link: str, intercept: bool, score: str) -> None:
    method, c = METHODS[0], make_stream(link, d=3).cutoff
    cutoff = 2 * c - 0.5 if score == "contrast" else c
    learner, X0, y0, X, y = fitted(method, link, cutoff, fit_intercept=intercept, score=score)
    list(drive(learner, X[:4], y[:4], 1))
    seen, labels = np.concatenate([X0, X[:4]]), np.concatenate([y0, y[:4]])
    chosen = utility_loss(seen, labels, c, lambda x: learner.predict(x[None])[0] >= cutoff)
    rows = np.column_stack([seen, np.ones(20)]) if intercept else seen
    z = learner.spec.link.inverse(c)
    class_ = all_patterns(rows[:4], z, intercept=intercept)
    others = [utility_loss(rows, labels, c, lambda x, beta=beta: x @ beta >= z) for beta in class_]
    assert chosen == pytest.approx(min(others), rel=1e-12)
    assert min(others) < max(others)


@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.name)
def test_observes_everything_first_and_never_learns_again(method: Passive) -> None:
    """16 rows of the warm start and 4 of the stream make K + S = 20."""
    learner, _, _, X, y = fitted(method)
    decisions = list(drive(learner, X[:4], y[:4], 1))
    assert all(d.accepted.all() and d.bonus == np.inf for d in decisions)
    beta = np.append(learner.coef_, learner.intercept_)
    assert beta.any()
    later = list(drive(learner, X[4:], -50.0 * y[4:], 3))
    accepted = np.concatenate([d.accepted for d in later])
    assert 0 < accepted.sum() < len(accepted)
    assert all((d.bonus == 0.0).all() for d in later)
    np.testing.assert_array_equal(np.append(learner.coef_, learner.intercept_), beta)


def test_late_labels_prolong_the_observation() -> None:
    learner, _, _, X, y = fitted(METHODS[0])
    decisions = list(drive(learner, X, y, 2, delay=3))
    observed = [bool((d.bonus == np.inf).all()) for d in decisions]
    assert observed[:6] == [True] * 5 + [False]  # labels of rounds 1, 2 come after 4 and 5
    assert not any(observed[5:])


def test_large_warm_start_ends_the_observation_at_once() -> None:
    learner, _, _, X, _ = fitted(Passive(horizon=8))  # K + S = 6
    assert np.isfinite(learner.decide(X).bonus).all()


def test_ties_are_accepted() -> None:
    """c = 0 and all labels above it: β = 0 accepts every row by a tie, and nothing beats it."""
    X = np.random.default_rng(0).normal(size=(40, 3))
    learner = OneSidedLearner(method=Passive(horizon=60), cutoff=0.0, fit_intercept=False)
    learner.fit(X[:20], np.ones(20))
    decision = learner.decide(X[20:])
    np.testing.assert_array_equal(learner.coef_, 0.0)
    np.testing.assert_array_equal(decision.score + decision.bonus, 0.0)
    assert decision.accepted.all()


@pytest.mark.parametrize(
    ("cutoff", "accepts"), [(-0.1, True), (0.0, True), (1.0, False), (2.0, False)]
)
def test_cutoffs_no_probability_can_cross(cutoff: float, accepts: bool) -> None:
    learner, _, _, X, y = fitted(METHODS[0], "logistic", cutoff)
    list(drive(learner, X[:4], y[:4], 1))
    assert (learner.decide(X[4:]).accepted == accepts).all()


@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.name)
@pytest.mark.parametrize("n", [2, 10])
def test_saved_learner_continues(method: Passive, n: int, tmp_path) -> None:
    """Saved while it observes, and after it has chosen."""
    learner, _, _, X, y = fitted(method, "logistic", score="contrast")
    list(drive(learner, X[:n], y[:n], 1))
    learner.save(tmp_path / "learner")
    restored = OneSidedLearner.load(tmp_path / "learner")
    assert restored.method == method
    rest = [
        np.concatenate([d.accepted for d in drive(one, X[n:], y[n:], 1)])
        for one in (learner, restored)
    ]
    np.testing.assert_array_equal(*rest)
    assert not rest[0].all()


def test_chosen_rule_is_a_good_one() -> None:
    """Noise-free labels: the rule decides nearly all further rows right (Proposition 1)."""
    rng = np.random.default_rng(4)
    X, beta = rng.normal(size=(3000, 3)), np.array([1.0, -0.5, 0.5])
    learner = OneSidedLearner(method=Passive(horizon=3000), cutoff=0.4, fit_intercept=False)
    learner.fit(X[:300], X[:300] @ beta)
    right = learner.decide(X[300:]).accepted == (X[300:] @ beta > 0.4)
    assert right.mean() > 0.9


# --- limits and errors ----------------------------------------------------------------------------


def test_too_many_columns_are_refused_at_once_and_the_cover_is_named() -> None:
    X, y = np.random.default_rng(0).normal(size=(30, 6)), np.arange(30.0)
    message = "passive: 7 columns are too many .* method=passive_cover, an approximation"
    with pytest.raises(ValueError, match=message):
        OneSidedLearner(method="passive").fit(X, y)
    OneSidedLearner(method="passive_cover").fit(X, y)
    OneSidedLearner(method="passive").fit(X[:, :4], y)  # and the intercept


def test_five_columns_are_not_too_many_where_all_hyperplanes_meet_in_one_point() -> None:
    """z = 0 without an intercept is as cheap as four columns with one; z ≠ 0 is not."""
    X, y = np.random.default_rng(0).normal(size=(30, 6)), np.arange(30.0) - 15.0
    assert pattern_count(40, 5, central=True) < pattern_count(40, 5, central=False)
    method = Passive(horizon=125)
    learner = OneSidedLearner(method=method, cutoff=0.0, fit_intercept=False).fit(X[:, :5], y)
    assert learner.coef_.any()
    for columns, cutoff in ((6, 0.0), (5, 0.5)):
        message = f"passive: {columns} columns are too many"
        with pytest.raises(ValueError, match=message):
            OneSidedLearner(method=method, cutoff=cutoff, fit_intercept=False).fit(
                X[:, :columns], y
            )


def test_too_many_patterns_are_refused() -> None:
    assert pattern_count(56, 4, central=False) <= MAX_PATTERNS < pattern_count(57, 4, central=False)
    assert pattern_count(48, 5, central=True) <= MAX_PATTERNS < pattern_count(49, 5, central=True)
    method = Passive(horizon=57**3)
    X = np.random.default_rng(0).normal(size=(10, 4))
    with pytest.raises(ValueError, match=r"passive: K = 57 rows have up to .*=passive_cover"):
        OneSidedLearner(method=method, fit_intercept=False).fit(X, np.zeros(10))


def test_approximation_says_so() -> None:
    assert not Passive.approximate
    assert PassiveCover.approximate
    assert PassiveCover.name == "passive_cover"


@pytest.mark.parametrize("value", [0, -3, 2.5, float("nan"), float("inf")])
def test_sizes_must_be_whole_numbers(value: float) -> None:
    with pytest.raises(ValueError, match="passive: horizon must be a whole number >= 1"):
        Passive(horizon=value)
    with pytest.raises(ValueError, match="passive_cover: n_patterns must be a whole number >= 1"):
        PassiveCover(n_patterns=value)


def test_model_without_a_learner_says_what_is_missing() -> None:
    model = Passive().make_model(ModelSpec(Logistic()))
    with pytest.raises(RuntimeError, match="needs the cutoff"):
        model.fit(np.ones((5, 2)), np.ones(5))

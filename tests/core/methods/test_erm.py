"""The alternative greedy rule at work: on the trap, outside it, saved and restored."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.core.learner import OneSidedLearner
from pipeline.core.links import Logistic
from pipeline.core.methods import get_method
from pipeline.core.methods.checks.streams import drive, make_stream
from pipeline.core.models.base import ModelSpec


def empirical_loss(y: np.ndarray, c: float, accepted: np.ndarray) -> float:
    return float(np.abs(y - c)[(y > c) != accepted].sum())


@pytest.mark.parametrize("link", ["linear", "logistic"])
@pytest.mark.parametrize("intercept", [True, False])
def test_loses_no_more_than_greedy_on_what_it_has_seen(link: str, intercept: bool) -> None:
    stream = make_stream(link)
    X0, y0, X, y = stream.ordered()
    rows, labels = np.concatenate([X0, X]), np.concatenate([y0, y])
    losses = []
    for method in ("erm", "greedy"):
        learner = OneSidedLearner(
            link=link, method=method, cutoff=stream.cutoff, fit_intercept=intercept
        )
        learner.fit(rows, labels)
        losses.append(empirical_loss(labels, stream.cutoff, learner.decide(rows).accepted))
    assert losses[0] < losses[1]


def test_a_group_is_lost_for_ever_though_others_are_learned() -> None:
    """Theorem 1's trap: rows that are orthogonal to v, but not to each other."""
    rng = np.random.default_rng(2)
    n = 300
    on_v = rng.random(n) < 0.3
    on_v[:2] = True
    X = np.column_stack([on_v * 1.0, rng.normal(size=(n, 2)) * ~on_v[:, None]])
    y = np.where(on_v, 0.75, X[:, 1]) + rng.normal(scale=0.3, size=n)
    y[:40][on_v[:40]] = -1.0  # a bad start for v
    learner = OneSidedLearner(method="erm", cutoff=0.5, fit_intercept=False).fit(X[:40], y[:40])
    accepted = np.concatenate([d.accepted for d in drive(learner, X[40:], y[40:], 1)])
    assert not learner.model.groups.holds
    assert not accepted[on_v[40:]].any()
    right = accepted == (X[40:, 1] > 0.5)
    assert right[~on_v[40:]].mean() > 0.85


@pytest.mark.parametrize(
    ("cutoff", "accepts"), [(-0.1, True), (0.0, True), (1.0, False), (1.5, False)]
)
def test_cutoffs_no_probability_can_cross(cutoff: float, accepts: bool) -> None:
    X0, y0, X, _ = make_stream("logistic").ordered()
    learner = OneSidedLearner(link="logistic", method="erm", cutoff=cutoff).fit(X0, y0)
    assert (learner.decide(X).accepted == accepts).all()


def test_saved_learner_keeps_its_groups(tmp_path) -> None:
    X, y = np.eye(3)[[0, 1, 2, 0, 1, 2]], np.array([1.0, -1.0, 0.5, -0.2, 0.9, 0.1])
    learner = OneSidedLearner(method="erm", cutoff=0.0, fit_intercept=False).fit(X, y)
    learner.save(tmp_path / "learner")
    restored = OneSidedLearner.load(tmp_path / "learner")
    assert restored.model.groups.holds
    labels = -np.ones(2)
    for one in (learner, restored):
        decision = one.decide(X[:3])
        assert decision.accepted.tolist() == [True, False, True]
        one.learn(decision.ids, labels)
    np.testing.assert_array_equal(learner.coef_, restored.coef_)


def test_rows_that_do_not_fit_beta_are_refused() -> None:
    X0, y0, X, y = make_stream().ordered()
    learner = OneSidedLearner(method="erm", cutoff=0.3).fit(X0, y0)
    list(drive(learner, X, y, 7))
    state = learner.model.state()
    for name, wrong in (("X", state["X"][:, 1:]), ("y", state["y"][1:]), ("y", state["X"])):
        with pytest.raises(ValueError, match=r"X has shape \(.*\) where β has \(5,\)"):
            learner.model.restore({**state, name: wrong})
    learner.model.restore(state)
    np.testing.assert_array_equal(learner.model.remembered[0], state["X"])


def test_model_without_a_learner_says_what_is_missing() -> None:
    model = get_method("erm").make_model(ModelSpec(Logistic()))
    with pytest.raises(RuntimeError, match="erm needs the cutoff"):
        model.fit(np.ones((5, 2)), np.ones(5))

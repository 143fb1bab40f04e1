"""What the learner refuses: a clear message, and a learner that is exactly as it was before."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from pipeline.core.learner import OneSidedLearner
from pipeline.core.methods import Method
from pipeline.core.methods.checks.streams import make_stream

STREAM = make_stream("logistic")
X0, Y0, X, Y = STREAM.ordered()
Act = Callable[[OneSidedLearner], object]


def make(**options) -> OneSidedLearner:
    given = {"link": "logistic", "method": "os_noise", "cutoff": STREAM.cutoff, **options}
    return OneSidedLearner(**given)


@pytest.fixture
def learner() -> OneSidedLearner:
    """Three rounds, of which some labels have come, some rows were given up and some wait."""
    learner = make().fit(X0, Y0)
    for first in range(0, 45, 15):
        decision = learner.decide(X[first : first + 15])
        labels = Y[first : first + 15][decision.accepted]
        learner.learn(decision.ids[:3], labels[:3])
        learner.forget(decision.ids[3:4])
    assert learner.waiting_ids.tolist() != []
    return learner


def entry(array: np.ndarray, value: float) -> np.ndarray:
    changed = array.copy()
    changed[1] = value
    return changed


# --- constructor ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "our"}, "unknown method 'our'; did you mean 'ours'"),
        ({"method": 3}, "unknown method 3; known: "),
        ({"link": "logit"}, "unknown link 'logit'; did you mean 'logistic'"),
        ({"time": "round"}, "unknown time 'round'; did you mean 'rounds'"),
        ({"score": "contrasts"}, "unknown score 'contrasts'; did you mean 'contrast'"),
        ({"grow": "labels"}, "unknown grow 'labels'; did you mean 'label'"),
        ({"alpha": -0.5}, "alpha must be a finite number >= 0, got -0.5"),
        ({"alpha": math.nan}, "alpha must be a finite number"),
        ({"alpha": math.inf}, "alpha must be a finite number"),
        ({"alpha": "much"}, "alpha must be a finite number"),
        ({"alpha": None}, "alpha must be a finite number"),
        ({"cutoff": math.nan}, "cutoff must be a finite number"),
        ({"cutoff": math.inf}, "cutoff must be a finite number"),
        ({"cutoff": "high"}, "cutoff must be a finite number"),
        ({"l2": -1.0}, "l2 must be a finite number >= 0, got -1.0"),
        ({"l2": math.inf}, "l2 must be a finite number"),
        ({"seed": -1}, "seed must be an integer from 0"),
        ({"seed": 0.5}, "seed must be an integer"),
        ({"seed": 2**63}, "seed must be an integer"),
        ({"seed": "today"}, "seed must be an integer"),
    ],
    ids=lambda value: "-".join(map(str, *value.items())) if isinstance(value, dict) else "",
)
def test_wrong_setting(options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make(**options)


def test_edges_of_the_settings_are_allowed() -> None:
    make(alpha=0.0, l2=0.0, cutoff=-3.0, seed=2**63 - 1)
    make(seed=np.int64(5), alpha=np.float32(1.0), cutoff=1)


# --- before the warm start ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "act",
    [
        lambda learner: learner.decide(X),
        lambda learner: learner.learn([], []),
        lambda learner: learner.forget([]),
        lambda learner: learner.predict(X),
        lambda learner: learner.width(X),
        lambda learner: learner.coef_,
        lambda learner: learner.intercept_,
        lambda learner: learner.save("/nonexistent/learner.npz"),
    ],
    ids=["decide", "learn", "forget", "predict", "width", "coef_", "intercept_", "save"],
)
def test_warm_start_comes_first(act: Act) -> None:
    with pytest.raises(RuntimeError, match=r"call fit\(X0, y0\) first"):
        act(make())


@pytest.mark.parametrize(
    ("X_", "y_", "message"),
    [
        (X0, Y0[:-1], "one label for each of 16 rows"),
        (X0, Y0[:, None], "one label for each of 16 rows"),
        (X0[0], Y0, "two dimensions"),
        (X0[:0], Y0[:0], "warm start is empty"),
        (X0[:, :0], Y0, "warm start is empty"),
        (entry(X0, math.nan), Y0, r"X\[1, 0\] is nan"),
        (X0, entry(Y0, math.nan), r"y\[1\] is not a finite number"),
        (X0, entry(Y0, 0.5), "labels of the logistic link must be 0 or 1, got 0.5"),
        (X0, 2 * Y0 - 1, "must be 0 or 1, got -1"),
        (X0, ["yes"] * 16, "vector of numbers"),
        ([["a", "b"]], [1.0], "matrix of numbers"),
    ],
)
def test_wrong_warm_start(learner: OneSidedLearner, X_, y_, message: str, tmp_path) -> None:
    unfitted = make()
    with pytest.raises(ValueError, match=message):
        unfitted.fit(X_, y_)
    with pytest.raises(RuntimeError, match="no warm start"):
        unfitted.decide(X)
    assert_refused(learner, lambda refitted: refitted.fit(X_, y_), message, tmp_path)


def test_singular_warm_start_leaves_the_old_one(tmp_path) -> None:
    learner = make(link="linear", l2=0.0).fit(X0, Y0)
    twice = np.column_stack([X0, X0[:, :1]])
    assert_refused(learner, lambda again: again.fit(twice, Y0), "singular", tmp_path)


# --- at work --------------------------------------------------------------------------------------


def assert_refused(learner: OneSidedLearner, act: Act, message: str, tmp_path) -> None:
    """Refused with that message; what is saved afterwards is byte by byte what was saved before."""
    learner.save(tmp_path / "before")
    with pytest.raises(ValueError, match=message):
        act(learner)
    learner.save(tmp_path / "after")
    assert (tmp_path / "after").read_bytes() == (tmp_path / "before").read_bytes()


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        (X[0], r"two dimensions \(rows, features\), got shape \(4,\)"),
        (X[None], "two dimensions"),
        (X[:, :3], "X has 3 features, the learner knows 4"),
        (np.column_stack([X, X]), "X has 8 features, the learner knows 4"),
        (entry(X, math.nan), r"X\[1, 0\] is nan; features must be finite"),
        (entry(X, -math.inf), r"X\[1, 0\] is -inf"),
        ([["a", "b", "c", "d"]], "matrix of numbers"),
        ([[1.0], [1.0, 2.0]], "matrix of numbers"),
        (None, "two dimensions"),
    ],
)
@pytest.mark.parametrize("name", ["decide", "predict", "width"])
def test_wrong_rows(learner: OneSidedLearner, name: str, batch, message: str, tmp_path) -> None:
    assert_refused(learner, lambda used: getattr(used, name)(batch), message, tmp_path)


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([0], "id 0 is learned or forgotten already"),
        ([3], "id 3 is learned or forgotten already"),
        ([10_000], "id 10000 is unknown"),
        ([-1], "id -1 is unknown"),
        ([4, 4], "same row twice"),
        ([4, 0], "id 0 is learned or forgotten already"),
        ([4, 10_000], "id 10000 is unknown"),
        ([4.0], "vector of integers"),
        ([True], "vector of integers"),
        ([[4]], "vector of integers"),
        (4, "vector of integers"),
        (["4"], "vector of integers"),
    ],
)
def test_wrong_ids(learner: OneSidedLearner, ids, message: str, tmp_path) -> None:
    assert 4 in learner.waiting_ids
    labels = np.zeros(np.size(ids))
    assert_refused(learner, lambda used: used.learn(ids, labels), message, tmp_path)
    assert_refused(learner, lambda used: used.forget(ids), message, tmp_path)


def test_ids_are_learned_once(learner: OneSidedLearner, tmp_path) -> None:
    ids = learner.waiting_ids[:2]
    learner.learn(ids, [0.0, 1.0])
    message = f"id {ids[0]} is learned or forgotten already"
    assert_refused(learner, lambda used: used.learn(ids, [0.0, 1.0]), message, tmp_path)
    assert_refused(learner, lambda used: used.forget(ids), message, tmp_path)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([1.0], r"one label for each of 2 rows, got shape \(1,\)"),
        ([1.0, 0.0, 1.0], "one label for each of 2 rows"),
        ([[1.0, 0.0]], "one label for each of 2 rows"),
        ([1.0, math.nan], r"y\[1\] is not a finite number"),
        ([math.inf, 1.0], r"y\[0\] is not a finite number"),
        ([1.0, 0.5], "labels of the logistic link must be 0 or 1, got 0.5"),
        ([-1.0, 1.0], "must be 0 or 1, got -1"),
        (["no", "yes"], "vector of numbers"),
        ([None, 1.0], "not a finite number|vector of numbers"),
    ],
)
def test_wrong_labels(learner: OneSidedLearner, labels, message: str, tmp_path) -> None:
    ids = learner.waiting_ids[:2]
    assert_refused(learner, lambda used: used.learn(ids, labels), message, tmp_path)


def test_probit_labels_are_binary_and_linear_ones_are_not() -> None:
    for link, label in (("probit", 2.0), ("linear", math.nan)):
        learner = make(link=link, alpha=100.0).fit(X0, Y0)
        ids = learner.decide(X[:1]).ids
        with pytest.raises(ValueError, match=r"must be 0 or 1, got 2|y\[0\] is not a finite"):
            learner.learn(ids, [label])
        learner.learn(ids, [1.0])
    linear = make(link="linear", alpha=100.0).fit(X0, Y0)
    linear.learn(linear.decide(X[:1]).ids, [-17.5])


@pytest.mark.parametrize("link", ["linear", "logistic"])
@pytest.mark.parametrize("size", [1e100, 1e200, 1e308])
def test_rows_too_large_for_arithmetic_do_no_harm(link: str, size: float) -> None:
    """Refused, or learned: but no score or width is ever NaN afterwards."""
    learner = make(link=link, method="os_eps_greedy", alpha=9.0).fit(X0, Y0)
    huge = np.vstack([X[:1], X[:1]])
    huge[1, 0] = size
    try:
        learner.learn(learner.decide(huge).ids, [1.0, 1.0])
    except ValueError:
        assert (learner.n_rounds_, len(learner.waiting_ids)) in ((0, 0), (1, 2))
    assert np.isfinite(learner.predict(X)).all()
    assert np.isfinite(learner.width(X)).all()


# --- methods that fail ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Unsteady(Method):
    """NaN for about one row in ten."""

    name = "unsteady"
    n_draws = 1

    @staticmethod
    def bonus(t, alpha, score, width, draws):  # noqa: ARG004
        return math.nan if draws[0] < 0.1 else alpha


@pytest.mark.parametrize("grow", ["label", "acceptance"])
def test_bonus_that_is_nan_decides_nothing(grow: str) -> None:
    learner = make(method=Unsteady(), alpha=9.0, grow=grow).fit(X0, Y0)
    learner.decide(X[:3])
    width, score = learner.width(X), learner.predict(X)
    with pytest.raises(ValueError, match="'unsteady' is NaN in round 2"):
        learner.decide(X)
    assert (learner.n_rounds_, learner.n_seen_) == (1, 3)
    assert learner.waiting_ids.tolist() == [0, 1, 2]
    assert learner.predict(X).tobytes() == score.tobytes()
    np.testing.assert_allclose(learner.width(X), width, rtol=1e-13)

"""The streaming learner: its interface, its model, late labels, labels that never come."""

from __future__ import annotations

import dataclasses
import inspect

import numpy as np
import pytest

from pipeline.core.learner import Decision, OneSidedLearner
from pipeline.core.links import Logistic
from pipeline.core.methods.checks.streams import LINK_NAMES, drive, make_stream
from pipeline.core.methods.ours import Ours
from tests.core.naive import NaiveLearner, assert_decided

SETTINGS = (
    {},
    {"fit_intercept": False},
    {"penalize_intercept": False},
    {"l2": 0.05, "score": "contrast"},
    {"grow": "acceptance"},
)


def pair(link: str, method: str = "ours", **options) -> tuple[OneSidedLearner, NaiveLearner]:
    """A learner and a naive one, after the same warm start."""
    stream = make_stream(link)
    X0, y0, _, _ = stream.ordered()
    given = {"cutoff": stream.cutoff, "alpha": 0.3, "link": link, **options}
    naive = NaiveLearner(method, X0, y0, key=11, **given)
    return OneSidedLearner(method=method, seed=11, **given).fit(X0, y0), naive


def assert_same_model(learner: OneSidedLearner, naive: NaiveLearner, X: np.ndarray) -> None:
    np.testing.assert_allclose(learner.predict(X), naive.scores(X), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(learner.width(X), naive.widths(X), rtol=1e-8)
    beta = naive.beta() if naive.fit_intercept else np.append(naive.beta(), 0.0)
    np.testing.assert_allclose(learner.coef_, beta[:-1], rtol=1e-7, atol=1e-8)
    assert learner.intercept_ == pytest.approx(beta[-1], rel=1e-7, abs=1e-8)


# --- interface ------------------------------------------------------------------------------------


def test_constructor_is_that_of_the_issue() -> None:
    parameters = inspect.signature(OneSidedLearner).parameters
    assert list(parameters)[:10] == [
        *("link", "method", "cutoff", "alpha", "l2", "fit_intercept", "penalize_intercept"),
        *("time", "score", "seed"),
    ]
    stated = {
        **{"l2": 1.0, "fit_intercept": True, "penalize_intercept": True},
        **{"time": "rounds", "score": "mean", "seed": 0, "grow": "label"},
        "refit_every": 1,
    }
    assert {name: parameters[name].default for name in stated} == stated
    assert not set(parameters) - {*stated, "link", "method", "cutoff", "alpha"}


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("fit", ["self", "X0", "y0"]),
        ("decide", ["self", "X"]),
        ("learn", ["self", "ids", "y"]),
        ("forget", ["self", "ids"]),
        ("predict", ["self", "X"]),
        ("width", ["self", "X"]),
        ("save", ["self", "path"]),
        ("load", ["path"]),
    ],
)
def test_methods_are_those_of_the_issue(name: str, parameters: list[str]) -> None:
    assert list(inspect.signature(getattr(OneSidedLearner, name)).parameters) == parameters


def test_decision_has_the_fields_of_the_issue() -> None:
    assert [f.name for f in dataclasses.fields(Decision)] == ["accepted", "ids", "score", "bonus"]
    learner, naive = pair("logistic")
    X = make_stream("logistic").ordered()[2][:30]
    decision = learner.decide(X)
    assert decision.accepted.dtype == np.bool_
    assert decision.accepted.shape == decision.score.shape == decision.bonus.shape == (30,)
    assert 0 < decision.accepted.sum() < 30
    assert decision.ids.tolist() == list(range(decision.accepted.sum()))
    np.testing.assert_allclose(decision.score, naive.scores(X), rtol=1e-8)
    np.testing.assert_allclose(decision.bonus, 0.3 * naive.widths(X), rtol=1e-8)
    np.testing.assert_array_equal(
        decision.accepted, decision.score + decision.bonus > learner.cutoff
    )


def test_ids_go_on_from_round_to_round() -> None:
    learner, _ = pair("linear")
    X = make_stream("linear").ordered()[2]
    decisions = [learner.decide(X[i : i + 10]) for i in range(0, 40, 10)]
    ids = np.concatenate([decision.ids for decision in decisions])
    assert ids.tolist() == list(range(sum(decision.accepted.sum() for decision in decisions)))
    assert learner.waiting_ids.tolist() == ids.tolist()


def test_counters() -> None:
    learner, _ = pair("linear")
    assert (learner.n_rounds_, learner.n_seen_) == (0, 0)
    X = make_stream("linear").ordered()[2]
    learner.decide(X[:7])
    learner.decide(X[7:10])
    learner.decide(X[:0])
    learner.predict(X)
    assert (learner.n_rounds_, learner.n_seen_) == (3, 10)


def test_fit_returns_the_learner_and_starts_anew() -> None:
    X0, y0, X, y = make_stream("linear").ordered()
    fresh = OneSidedLearner(method="os_noise", cutoff=0.2).fit(X0, y0)
    used = OneSidedLearner(method="os_noise", cutoff=0.2).fit(X[:20], y[:20])
    list(drive(used, X, y, 10))
    given = used.decide(X).ids
    assert used.fit(X0, y0) is used
    assert (used.n_rounds_, used.n_seen_, len(used.waiting_ids)) == (0, 0, 0)
    given = max(given)
    for ours, theirs in zip(drive(used, X, y, 9), drive(fresh, X, y, 9), strict=True):
        assert ours.ids.tolist() == (theirs.ids + given + 1).tolist()  # no id means two rows
        assert ours.bonus.tobytes() == theirs.bonus.tobytes()
        assert ours.score.tobytes() == theirs.score.tobytes()


def test_names_and_objects_mean_the_same() -> None:
    X0, y0, X, _ = make_stream("logistic").ordered()
    named = OneSidedLearner("logistic", "ours", 0.5, 0.3).fit(X0, y0).decide(X)
    objects = OneSidedLearner(Logistic(), Ours(), 0.5, 0.3).fit(X0.tolist(), y0 > 0).decide(X)
    assert named.bonus.tobytes() == objects.bonus.tobytes()


def test_caller_may_reuse_its_arrays() -> None:
    X0, y0, X, y = (a.copy() for a in make_stream("logistic").ordered())
    learner, _ = pair("logistic", fit_intercept=False)
    other = OneSidedLearner(
        link="logistic", cutoff=learner.cutoff, alpha=0.3, fit_intercept=False
    ).fit(X0, y0)
    batch = X[:20].copy()
    decision, same = other.decide(batch), learner.decide(X[:20])
    for array in (X0, y0, batch, decision.score):
        array[:] = 77.0
    other.learn(decision.ids, y[:20][same.accepted])
    learner.learn(same.ids, y[:20][same.accepted])
    assert other.predict(X).tobytes() == learner.predict(X).tobytes()


# --- the model ------------------------------------------------------------------------------------


@pytest.mark.parametrize("link", LINK_NAMES)
@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_model_equals_a_refit_in_every_round(link: str, setting: dict) -> None:
    learner, naive = pair(link, **setting)
    _, _, X, y = make_stream(link).ordered()
    assert_same_model(learner, naive, X)
    for first in range(0, len(X), 9):
        part = slice(first, first + 9)
        decision = learner.decide(X[part])
        assert_decided(naive.decide(X[part], decision.accepted), decision.accepted)
        labels = y[part][decision.accepted]
        learner.learn(decision.ids, labels)
        naive.learn(decision.ids.tolist(), labels)
        assert_same_model(learner, naive, X)


@pytest.mark.parametrize("link", LINK_NAMES)
def test_widths_shrink_as_rows_are_learned(link: str) -> None:
    learner, _ = pair(link)
    _, _, X, y = make_stream(link).ordered()
    before = learner.width(X)
    for decision in drive(learner, X, y, 10):
        after = learner.width(X)
        assert (after <= before * (1 + 1e-12)).all()
        assert len(decision.ids) == 0 or (after < before).any()
        before = after


def test_predict_and_width_change_nothing() -> None:
    _, _, X, y = make_stream("logistic").ordered()
    (asked, _), (silent, _) = pair("logistic", "os_noise"), pair("logistic", "os_noise")
    for first in range(0, 40, 8):
        asked.predict(X)
        asked.width(X)
        a, b = (learner.decide(X[first : first + 8]) for learner in (asked, silent))
        assert (a.score.tobytes(), a.bonus.tobytes()) == (b.score.tobytes(), b.bonus.tobytes())
        for learner, decision in ((asked, a), (silent, b)):
            learner.learn(decision.ids, y[first : first + 8][decision.accepted])


# --- late labels ----------------------------------------------------------------------------------


@pytest.mark.parametrize("link", LINK_NAMES)
@pytest.mark.parametrize("grow", ["label", "acceptance"])
def test_labels_may_come_late_in_any_order_and_number(link: str, grow: str) -> None:
    learner, naive = pair(link, "ours_log", grow=grow, time="examples")
    _, _, X, y = make_stream(link).ordered()
    rng = np.random.default_rng(3)
    labels = {}
    for first in range(0, len(X), 12):
        part = slice(first, first + 12)
        decision = learner.decide(X[part])
        assert_decided(naive.decide(X[part], decision.accepted), decision.accepted)
        labels |= zip(decision.ids.tolist(), y[part][decision.accepted], strict=True)
        due = rng.permutation(list(labels))[: rng.integers(len(labels) + 1)].tolist()
        arrived = [labels.pop(i) for i in due]
        learner.learn(due, arrived)
        naive.learn(due, arrived)
        assert sorted(learner.waiting_ids) == sorted(labels)
        assert_same_model(learner, naive, X)
    last = sorted(labels, reverse=True)
    learner.learn(last, [labels[i] for i in last])
    naive.learn(last, [labels[i] for i in last])
    assert len(learner.waiting_ids) == 0
    assert_same_model(learner, naive, X)


def test_labels_are_learned_one_by_one_or_all_at_once() -> None:
    _, _, X, y = make_stream("logistic").ordered()
    (one, _), (all_, _) = pair("logistic"), pair("logistic")
    decision, same = one.decide(X), all_.decide(X)
    labels = y[decision.accepted]
    for i, label in zip(decision.ids, labels, strict=True):
        one.learn([i], [label])
    all_.learn(same.ids[::-1], labels[::-1])
    np.testing.assert_allclose(one.coef_, all_.coef_, rtol=1e-7)
    np.testing.assert_allclose(one.width(X), all_.width(X), rtol=1e-9)


def test_nothing_to_learn_is_fine() -> None:
    learner, _ = pair("logistic")
    X = make_stream("logistic").X
    before = learner.predict(X).tobytes()
    learner.learn([], [])
    learner.forget([])
    assert learner.predict(X).tobytes() == before


@pytest.mark.parametrize("link", LINK_NAMES)
@pytest.mark.parametrize("grow", ["label", "acceptance"])
def test_forgotten_rows_leave_no_trace(link: str, grow: str) -> None:
    learner, naive = pair(link, grow=grow)
    _, _, X, y = make_stream(link).ordered()
    for first in range(0, 60, 20):
        part = slice(first, first + 20)
        decision = learner.decide(X[part])
        naive.decide(X[part], decision.accepted)
        ids, labels = decision.ids.tolist(), y[part][decision.accepted].tolist()
        assert len(ids) > 4
        learner.learn(ids[:2], labels[:2])
        naive.learn(ids[:2], labels[:2])
        learner.forget(ids[2:-1])
        naive.forget(ids[2:-1])
        assert_same_model(learner, naive, X)
    assert learner.waiting_ids.tolist() == list(naive.waiting)
    assert len(naive.waiting) == 3


def test_forgetting_changes_widths_only_where_acceptance_had() -> None:
    X = make_stream("linear").ordered()[2]
    for grow in ("label", "acceptance"):
        learner, _ = pair("linear", grow=grow)
        start = learner.width(X)
        decision = learner.decide(X)
        shrunk = learner.width(X)
        assert (shrunk < start).any() == (grow == "acceptance")
        learner.forget(decision.ids)
        np.testing.assert_allclose(learner.width(X), start, rtol=1e-12)

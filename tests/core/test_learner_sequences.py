"""Any sequence of decide, learn, forget, save and load, against a learner that always refits."""

from __future__ import annotations

import tempfile
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.core.learner import OneSidedLearner
from pipeline.core.methods.checks.streams import LINK_NAMES, make_stream
from tests.core.naive import NaiveLearner, assert_decided

METHODS = ("greedy", "eps_greedy", "os_eps_greedy", "noise", "os_noise", "margin", "ours_log")
LEARNERS = st.fixed_dictionaries(
    {
        "link": st.sampled_from(LINK_NAMES),
        "method": st.sampled_from((*METHODS, "ours")),
        "alpha": st.sampled_from((0.0, 0.2, 1.5)),
        "l2": st.sampled_from((0.1, 1.0, 20.0)),
        "fit_intercept": st.booleans(),
        "penalize_intercept": st.booleans(),
        "time": st.sampled_from(("rounds", "examples")),
        "score": st.sampled_from(("mean", "contrast")),
        "grow": st.sampled_from(("label", "acceptance")),
    }
)
# What is done next, and a number that says how much or how many of it.
STEPS = st.lists(
    st.tuples(
        st.sampled_from(("decide", "decide", "learn", "learn", "forget", "reload", "check")),
        st.integers(0, 14),
    ),
    min_size=3,
    max_size=14,
)


class Pair:
    """A learner and its naive double, led through the same steps."""

    def __init__(self, options: dict) -> None:
        stream = make_stream(options["link"])
        X0, y0, self.X, self.y = stream.ordered()
        mean = stream.cutoff
        cutoff = 2 * mean - 0.5 if options["score"] == "contrast" else mean
        rest = {name: value for name, value in options.items() if name != "method"}
        self.learner = OneSidedLearner(**options, cutoff=cutoff, seed=23).fit(X0, y0)
        self.naive = NaiveLearner(options["method"], X0, y0, cutoff, key=23, **rest)
        self.labels: dict[int, float] = {}

    def decide(self, number: int) -> None:
        part = np.arange(self.naive.seen, self.naive.seen + number) % len(self.X)
        decision = self.learner.decide(self.X[part])
        margins = self.naive.decide(self.X[part], decision.accepted)
        assert_decided(margins, decision.accepted)
        self.labels |= zip(decision.ids.tolist(), self.y[part][decision.accepted], strict=True)

    def some(self, number: int) -> list[int]:
        """Waiting ids, the youngest first when the number is odd."""
        ids = sorted(self.labels, reverse=number % 2 == 1)
        return ids[:number]

    def learn(self, number: int) -> None:
        ids = self.some(number)
        if ids:
            labels = [self.labels.pop(i) for i in ids]
            self.learner.learn(ids, labels)
            self.naive.learn(ids, labels)

    def forget(self, number: int) -> None:
        ids = self.some(number // 3)
        self.learner.forget(ids)
        self.naive.forget(ids)
        for i in ids:
            del self.labels[i]

    def reload(self, _number: int) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self.learner.save(Path(folder, "learner"))
            self.learner = OneSidedLearner.load(Path(folder, "learner"))

    def check(self, _number: int = 0) -> None:
        learner, naive = self.learner, self.naive
        assert (learner.n_rounds_, learner.n_seen_) == (naive.rounds, naive.seen)
        assert sorted(learner.waiting_ids) == sorted(naive.waiting) == sorted(self.labels)
        scores, widths = naive.scores(self.X), naive.widths(self.X)
        np.testing.assert_allclose(learner.predict(self.X), scores, rtol=1e-7, atol=1e-8)
        np.testing.assert_allclose(learner.width(self.X), widths, rtol=1e-8)


def follow(options: dict, steps: list[tuple[str, int]]) -> None:
    pair = Pair(options)
    for name, number in steps:
        getattr(pair, name)(number)
    pair.check()


@given(options=LEARNERS, steps=STEPS)
@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_sequence(options: dict, steps: list[tuple[str, int]]) -> None:
    follow(options, steps)


@pytest.mark.slow
@given(options=LEARNERS, steps=st.lists(STEPS, max_size=12).map(lambda s: [*chain(*s)]))
@settings(max_examples=1500, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_long_sequence(options: dict, steps: list[tuple[str, int]]) -> None:
    follow(options, steps)


@pytest.mark.parametrize("link", LINK_NAMES)
@pytest.mark.parametrize("grow", ["label", "acceptance"])
def test_a_long_random_sequence(link: str, grow: str) -> None:
    """Hundreds of steps: drift, fresh factorisations and arrays that grow are on the way."""
    rng = np.random.default_rng(len(link))
    options = {
        **{"link": link, "method": "ours", "alpha": 0.4, "l2": 0.5, "fit_intercept": True},
        **{"penalize_intercept": False, "time": "rounds", "score": "mean", "grow": grow},
    }
    names = rng.choice(["decide", "decide", "learn", "learn", "forget", "reload", "check"], 250)
    follow(options, [(str(name), int(rng.integers(15))) for name in names])

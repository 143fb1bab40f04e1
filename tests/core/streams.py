"""Seeded streams to decide on, and two ways to run a method over them: engine and learner."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pipeline.core.engine import Lane, Simulation, Split, lane_key, simulate
from pipeline.core.learner import Decision, OneSidedLearner
from pipeline.core.links import get_link
from pipeline.core.methods import Method
from pipeline.core.models.base import ModelSpec
from tests.core.naive import MEANS

LINK_NAMES = tuple(MEANS)
N_INITIAL = 16


@dataclass(frozen=True)
class Stream:
    """Rows with their labels and true means, and the splits that order them."""

    link: str
    X: np.ndarray
    y: np.ndarray
    truth: np.ndarray
    splits: list[Split]

    @property
    def cutoff(self) -> float:
        return float(np.quantile(self.truth, 0.6))

    def ordered(self, split: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """X0, y0 of the warm start and X, y of the stream."""
        first, then = self.splits[split].initial, self.splits[split].stream
        return self.X[first], self.y[first], self.X[then], self.y[then]


def make_stream(link: str = "linear", n: int = 110, d: int = 4, n_splits: int = 1) -> Stream:
    """Rows of length about 1; a β* of length 1.2, so that a bound of 1 on the fit is felt."""
    rng = np.random.default_rng([n, d, len(link)])
    X = rng.normal(size=(n, d)) / np.sqrt(d)
    beta = rng.normal(size=d)
    beta *= 1.2 / np.linalg.norm(beta)
    truth = MEANS[link](X @ beta)
    noise = rng.normal(scale=0.3, size=n)
    y = truth + noise if link == "linear" else (rng.random(n) < truth).astype(float)
    orders = [rng.permutation(n) for _ in range(n_splits)]
    return Stream(link, X, y, truth, [Split(o[:N_INITIAL], o[N_INITIAL:]) for o in orders])


def run_engine(stream: Stream, lanes: list[Lane], **options: Any) -> Simulation:
    """Simulate and keep every decision."""
    options = {"spec": ModelSpec(get_link(stream.link)), "keep_decisions": True, **options}
    y = options.pop("y", stream.y)
    return simulate(stream.X, y, truth=stream.truth, splits=stream.splits, lanes=lanes, **options)


def make_learner(lane: Lane, link: str, seed: int = 0, **options: Any) -> OneSidedLearner:
    """Return the learner that must decide as the engine does in that lane."""
    return OneSidedLearner(
        link=link,
        method=lane.method,
        cutoff=lane.cutoff,
        alpha=lane.alpha,
        seed=lane_key(lane, seed, "fresh"),
        **options,
    )


def drive(
    learner: OneSidedLearner, X: np.ndarray, y: np.ndarray, batch: int, delay: int = 0
) -> Iterator[Decision]:
    """Decide round by round; labels of round r come after the decisions of round r + delay."""
    owed = []
    for first in range(0, len(X), batch):
        decision = learner.decide(X[first : first + batch])
        owed.append((decision.ids, y[first : first + batch][decision.accepted]))
        if len(owed) > delay:
            learner.learn(*owed.pop(0))
        yield decision


def used_learner(
    link: str = "logistic", method: str | Method = "os_noise", **options: Any
) -> OneSidedLearner:
    """A learner after five rounds of nine, with rows that wait for labels two rounds late."""
    X0, y0, X, y = make_stream(link).ordered()
    mean = make_stream(link).cutoff - 0.1
    cutoff = 2 * mean - 0.5 if options.get("score") == "contrast" else mean
    given = {"cutoff": cutoff, "alpha": 0.3, "seed": 5, **options}
    learner = OneSidedLearner(link=link, method=method, **given).fit(X0, y0)
    list(drive(learner, X[:45], y[:45], 9, delay=2))
    return learner


def all_bytes(result: Simulation) -> dict[str, bytes]:
    """Every array of a result, byte by byte."""
    arrays = {name: value for name, value in vars(result).items() if isinstance(value, np.ndarray)}
    assert {"loss", "rounds", "curve", "counts", "group_loss"} <= set(arrays)
    return {name: value.tobytes() for name, value in arrays.items()}

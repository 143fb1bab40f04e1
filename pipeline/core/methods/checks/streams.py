"""Seeded streams to decide on, and two ways to run a method over them: engine and learner."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pipeline.core.engine import Decisions, Lane, Simulation, Split, grid, make_learner, simulate
from pipeline.core.kernels.rows import FloatArray
from pipeline.core.learner import Decision, OneSidedLearner
from pipeline.core.links import LINKS, get_link
from pipeline.core.methods import Method
from pipeline.core.models.base import ModelSpec

LINK_NAMES = tuple(LINKS)
N_INITIAL = 16


@dataclass(frozen=True)
class Stream:
    """Rows with their labels and true means, and the splits that order them."""

    link: str
    X: FloatArray
    y: FloatArray
    truth: FloatArray
    splits: list[Split]

    @property
    def cutoff(self) -> float:
        """A cutoff with 60% of the true means below it."""
        return float(np.quantile(self.truth, 0.6))

    def ordered(self, split: int = 0) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return X0, y0 of the warm start and X, y of the stream."""
        first, then = self.splits[split].initial, self.splits[split].stream
        return self.X[first], self.y[first], self.X[then], self.y[then]


def make_stream(link: str = "linear", n: int = 110, d: int = 4, n_splits: int = 1) -> Stream:
    """Draw rows of length about 1; β* has length 1.2, so that a bound of 1 on the fit is felt."""
    rng = np.random.default_rng([n, d, len(link)])
    X = rng.normal(size=(n, d)) / np.sqrt(d)
    beta = rng.normal(size=d)
    beta *= 1.2 / np.linalg.norm(beta)
    truth = np.array([get_link(link).mean(z) for z in X @ beta])
    noise = rng.normal(scale=0.3, size=n)
    y = (rng.random(n) < truth).astype(float) if get_link(link).binary else truth + noise
    orders = [rng.permutation(n) for _ in range(n_splits)]
    return Stream(link, X, y, truth, [Split(o[:N_INITIAL], o[N_INITIAL:]) for o in orders])


def cases(
    method: Method, alphas: Sequence[float], links: Sequence[str] = ("linear", "logistic")
) -> Iterator[tuple[Stream, Lane]]:
    """Return the lanes of a method on a stream of each link."""
    for link in links:
        stream = make_stream(link)
        yield from ((stream, lane) for lane in grid([method], alphas, [stream.cutoff], 1))


def run_engine(stream: Stream, lanes: list[Lane], **options: Any) -> Simulation:
    """Simulate and keep every decision."""
    options = {"spec": ModelSpec(get_link(stream.link)), "keep_decisions": True, **options}
    y = options.pop("y", stream.y)
    return simulate(stream.X, y, truth=stream.truth, splits=stream.splits, lanes=lanes, **options)


def decisions_of(stream: Stream, lanes: list[Lane], **options: Any) -> Decisions:
    """Return what the engine decides, one row a lane."""
    decisions = run_engine(stream, lanes, **options).decisions
    assert decisions is not None  # they were asked for
    return decisions


def run_learner(
    lane: Lane, stream: Stream, batch: int, delay: int = 0, **options: Any
) -> list[Decision]:
    """Return what the learner decides in that lane, round by round."""
    X0, y0, X, y = stream.ordered(lane.split)
    learner = make_learner(lane, stream.link, **options).fit(X0, y0)
    return list(drive(learner, X, y, batch, delay))


def drive(
    learner: OneSidedLearner, X: FloatArray, y: FloatArray, batch: int, delay: int = 0
) -> Iterator[Decision]:
    """Decide round by round; labels of round r come after the decisions of round r + delay."""
    owed = []
    for first in range(0, len(X), batch):
        decision = learner.decide(X[first : first + batch])
        owed.append((decision.ids, y[first : first + batch][decision.accepted]))
        if len(owed) > delay:
            learner.learn(*owed.pop(0))
        yield decision


def joined(rounds: list[Decision], name: str) -> Any:
    """Return one array of all rounds."""
    return np.concatenate([getattr(decision, name) for decision in rounds])


def all_bytes(result: Simulation) -> dict[str, bytes]:
    """Return every array of a result, byte by byte."""
    arrays = {name: value for name, value in vars(result).items() if isinstance(value, np.ndarray)}
    return {name: value.tobytes() for name, value in arrays.items()}

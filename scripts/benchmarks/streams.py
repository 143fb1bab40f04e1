"""Streams to decide on, and our engine run over them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rivals import data
from rivals.numpy_loop import METHODS

from benchmarks.timing import cpu_seconds
from pipeline.core.engine import Lane, Simulation, Split, grid, simulate
from pipeline.core.links import get_link
from pipeline.core.loss import cutoff_at, fit_truth
from pipeline.core.models.base import ModelSpec

N_INITIAL = 100
SHAPES = ("d = 8 dense", "d = 30 dense", "d = 122 dense", "d = 122 one-hot, 13 non-zeros")
DENSE_122, ONE_HOT = SHAPES[2:]
ALPHA = 0.5
ALPHAS = (0.25, ALPHA, 1.0)
FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Stream:
    """Rows in the order they arrive, warm start first; the cutoff is the median true score.

    The rows hold a constant column where there is one, so no model adds an intercept.
    """

    X: FloatArray
    y: FloatArray
    truth: FloatArray
    cutoff: float
    spec: ModelSpec
    n_initial: int

    @property
    def n_rounds(self) -> int:
        """Rows that are decided on."""
        return len(self.X) - self.n_initial

    def lanes(
        self, methods: Sequence[str] = METHODS, alphas: Sequence[float] = ALPHAS
    ) -> list[Lane]:
        """Return all lanes of these methods and alphas."""
        return grid(methods, alphas, [self.cutoff], 1)

    def simulate(self, lanes: Sequence[Lane], **options: Any) -> Simulation:
        """Run our engine."""
        first, last = np.arange(self.n_initial), np.arange(self.n_initial, len(self.X))
        return simulate(
            *(self.X, self.y),
            truth=self.truth,
            splits=[Split(first, last)],
            lanes=lanes,
            spec=self.spec,
            **options,
        )

    def seconds(self, lanes: Sequence[Lane], **options: Any) -> float:
        """Return how long our engine takes in one thread, preparing the data included."""
        return cpu_seconds(lambda: self.simulate(lanes, **options))

    def cost(self, lanes: Sequence[Lane], **options: Any) -> float:
        """Return seconds per round and lane."""
        return self.seconds(lanes, **options) / (self.n_rounds * len(lanes))


def make_stream(
    X: FloatArray, y: FloatArray, link: str = "linear", n_initial: int = N_INITIAL
) -> Stream:
    """Return a stream whose truth is the fit of the model to all rows."""
    spec = ModelSpec(get_link(link), fit_intercept=False)
    truth = fit_truth(X, y, spec)
    return Stream(X, y, truth, cutoff_at(truth, 0.5), spec, n_initial)


def linear_stream(shape: str, n_rounds: int) -> Stream:
    """Return the stream of one of the shapes, linear link."""
    n = N_INITIAL + n_rounds
    X, y = data.onehot(n, 1) if shape == ONE_HOT else data.dense(n, int(shape.split()[2]), 1)
    return make_stream(X, y)


def adult_stream(n: int, link: str = "logistic") -> Stream:
    """Return rows of Adult's shape, 5% of them the warm start."""
    return make_stream(*data.onehot(n, 2), link, n_initial=n // 20)

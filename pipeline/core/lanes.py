"""What the engine runs and what it returns: splits, lanes and their results."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pipeline.core import loss as loss_
from pipeline.core import validation
from pipeline.core.kernels.draws import draw_key
from pipeline.core.kernels.rows import FloatArray
from pipeline.core.methods import Method, get_method

Draws = Literal["fresh", "shared"]
IndexArray = NDArray[np.int64]


@dataclass(frozen=True)
class Split:
    """Which rows are the warm start, and in which order the others arrive."""

    initial: IndexArray
    stream: IndexArray


@dataclass(frozen=True)
class Lane:
    """One online run: a method with its alpha, at a cutoff value, on a split."""

    method: Method
    alpha: float
    cutoff: float
    split: int


@dataclass(frozen=True)
class Simulation:
    """Results, one row a lane, in the order the lanes were given.

    Attributes:
        lanes: what was run.
        loss: R_T, the cumulative one-sided loss.
        rounds: the rounds t at which ``curve`` was taken, the last one included.
        curve: R_t, lanes × rounds.
        counts: rows seen, truly above, accepted, missed, wasted: lanes × groups × 5.
        group_loss: R_T of each group, lanes × groups (one group where none was given).
        n_rounds: T.
        decisions: lanes × examples, if asked for.
    """

    lanes: tuple[Lane, ...]
    loss: FloatArray
    rounds: IndexArray
    curve: FloatArray
    counts: IndexArray
    group_loss: FloatArray
    n_rounds: int
    decisions: NDArray[np.bool_] | None

    @property
    def accepted(self) -> IndexArray:
        """Number of rows each lane accepted."""
        return self._total(loss_.ACCEPTED)

    @property
    def missed(self) -> IndexArray:
        """Number of rows each lane rejected though truly above the cutoff."""
        return self._total(loss_.MISSED)

    @property
    def wasted(self) -> IndexArray:
        """Number of rows each lane accepted though not above the cutoff."""
        return self._total(loss_.WASTED)

    def _total(self, column: int) -> IndexArray:
        total: IndexArray = self.counts[:, :, column].sum(axis=1)
        return total


def grid(
    methods: Iterable[str | Method],
    alphas: Sequence[float],
    cutoffs: Iterable[float],
    n_splits: int,
) -> list[Lane]:
    """Return every combination; a method without an alpha runs once."""
    return [
        Lane(method, validation.alpha_value(alpha), validation.cutoff_value(cutoff), split)
        for method, cutoff in itertools.product(map(get_method, methods), cutoffs)
        for alpha in (alphas if method.has_alpha else (0.0,))
        for split in range(n_splits)
    ]


def lane_key(lane: Lane, seed: int, draws: Draws) -> int:
    """Return the key of a lane's draws: fresh for each method and alpha, or shared in a split."""
    own = () if draws == "shared" else (lane.method.name, float(lane.alpha))
    return draw_key(int(seed), int(lane.split), *own)

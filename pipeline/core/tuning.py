"""Tuned alpha: the one with the least mean loss over splits, as the paper reports it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.core.lanes import Simulation


@dataclass(frozen=True)
class Tuned:
    """One method at one cutoff under its best alpha.

    Attributes:
        method: its name.
        cutoff: the cutoff value.
        alpha: the tuned alpha; the smallest one where several are equally good.
        lanes: the lanes of that alpha, one a split, as rows of the simulation.
        mean: mean of R_T over splits.
        standard_error: of that mean; the split is the unit of replication. NaN for one split.
    """

    method: str
    cutoff: float
    alpha: float
    lanes: NDArray[np.int64]
    mean: float
    standard_error: float


def tune(simulation: Simulation) -> dict[tuple[str, float], Tuned]:
    """Choose alpha for each (method, cutoff) by the mean of R_T over splits."""
    rows: dict[tuple[str, float, float], list[int]] = defaultdict(list)
    for row, lane in enumerate(simulation.lanes):
        rows[lane.method.name, lane.cutoff, lane.alpha].append(row)
    best: dict[tuple[str, float], Tuned] = {}
    for cell, lanes in rows.items():
        loss, n = simulation.loss[lanes], len(lanes)
        error = float(loss.std(ddof=1) / np.sqrt(n)) if n > 1 else float("nan")
        tried = Tuned(*cell, np.array(lanes), float(loss.mean()), error)
        rival = best.setdefault(cell[:2], tried)
        if (tried.mean, tried.alpha) < (rival.mean, rival.alpha):
            best[cell[:2]] = tried
    return best

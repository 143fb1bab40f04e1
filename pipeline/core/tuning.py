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
    cells: dict[tuple[str, float], dict[float, list[int]]] = defaultdict(lambda: defaultdict(list))
    for row, lane in enumerate(simulation.lanes):
        cells[lane.method.name, lane.cutoff][lane.alpha].append(row)
    return {cell: _best(cell, rows, simulation.loss) for cell, rows in cells.items()}


def _best(
    cell: tuple[str, float], rows: dict[float, list[int]], loss: NDArray[np.float64]
) -> Tuned:
    means = {alpha: float(loss[lanes].mean()) for alpha, lanes in rows.items()}
    alpha = min(sorted(means), key=means.__getitem__)
    lanes = np.array(rows[alpha])
    n = len(lanes)
    error = float(loss[lanes].std(ddof=1) / np.sqrt(n)) if n > 1 else float("nan")
    return Tuned(cell[0], cell[1], alpha, lanes, means[alpha], error)

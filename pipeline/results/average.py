"""The average one-sided loss R_t/t: its mean and standard error over splits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.results.outcome import Columns

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class AverageLoss:
    """R_t/t of one method in one setting.

    Attributes:
        rounds: t.
        mean: over splits.
        error: standard error of that mean; NaN where there is one split.
    """

    rounds: NDArray[np.int64]
    mean: FloatArray
    error: FloatArray

    def thinned(self, points: int) -> AverageLoss:
        """Return about ``points`` evenly picked rounds, the first and the last among them."""
        n = len(self.rounds)
        picked = np.unique(np.linspace(0, n - 1, min(points, n)).round().astype(int))
        return AverageLoss(self.rounds[picked], self.mean[picked], self.error[picked])


def average_loss(curves: Columns) -> AverageLoss:
    """Return the average loss of a run.

    Args:
        curves: split, round and R_t in any order, as in ``curves.parquet``.
    """
    n_splits = len(np.unique(curves["split"]))
    order = np.lexsort((curves["round"], curves["split"]))
    rounds, losses = (curves[name][order].reshape(n_splits, -1) for name in ("round", "loss"))
    return average_of(rounds[0], losses)


def average_of(rounds: NDArray[np.int64], losses: FloatArray) -> AverageLoss:
    """Return the average loss of R_t, splits × rounds."""
    average = losses / rounds
    n = len(average)
    error = average.std(axis=0, ddof=1) / np.sqrt(n) if n > 1 else np.full(len(rounds), np.nan)
    return AverageLoss(rounds, average.mean(axis=0), error)

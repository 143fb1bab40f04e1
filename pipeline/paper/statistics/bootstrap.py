"""Bootstrap over splits: how far a figure would move, had other splits been drawn.

A split is the unit of replication. It is resampled for all methods at once, so what makes a split
hard for all of them cancels in their differences and ratios (a paired bootstrap). Intervals are
those of the percentiles 2.5 and 97.5.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
N_RESAMPLES, SEED, PERCENTILES = 4000, 0, (2.5, 97.5)


@dataclass(frozen=True)
class Estimate:
    """A figure, and the same figure of each resample."""

    value: float
    resampled: FloatArray

    @property
    def interval(self) -> tuple[float, float]:
        """Return the ends of the interval; NaN where a resample has no figure."""
        low, high = np.percentile(self.resampled, PERCENTILES)
        return float(low), float(high)


def weights(dataset: str, n_splits: int) -> FloatArray:
    """Return the weight of each split in each resample, resamples × splits.

    A dataset's resamples are always the same: its splits are the same for every cutoff and
    method, and nothing depends on which other datasets there are.
    """
    rng = np.random.default_rng([SEED, zlib.crc32(dataset.encode())])
    picked = rng.integers(n_splits, size=(N_RESAMPLES, n_splits))
    counts = np.zeros((N_RESAMPLES, n_splits))
    np.add.at(counts, (np.arange(N_RESAMPLES)[:, None], picked), 1.0)
    return counts / n_splits


def mean_over_splits(values: FloatArray, weight: FloatArray) -> Estimate:
    """Return the mean of a figure that each split has."""
    return Estimate(float(values.mean()), weight @ values)


def mean_of(estimates: Sequence[Estimate]) -> Estimate:
    """Return the mean of several figures."""
    resampled = np.mean([estimate.resampled for estimate in estimates], axis=0)
    return Estimate(float(np.mean([estimate.value for estimate in estimates])), resampled)


def ratio(above: Estimate, below: Estimate) -> Estimate:
    """Return the ratio of two figures; NaN where it cannot be told."""
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.float64(above.value) / below.value
        return Estimate(float(value), above.resampled / below.resampled)

"""Figures with their 95 % intervals: a bootstrap over splits or runs, Wilson's for a share.

A split, or a run with data of its own, is the unit of replication. It is resampled for all methods
at once, so what makes a split hard for all of them cancels in their differences and ratios (a
paired bootstrap). Intervals are those of the percentiles 2.5 and 97.5.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

FloatArray = NDArray[np.float64]
N_RESAMPLES, SEED, PERCENTILES = 4000, 0, (2.5, 97.5)


class Estimate(NamedTuple):
    """A figure, and the same figure of each resample."""

    value: float
    resampled: FloatArray

    @property
    def interval(self) -> tuple[float, float]:
        """Return the ends of the interval; NaN where a resample has no figure."""
        low, high = np.percentile(self.resampled, PERCENTILES)
        return float(low), float(high)

    def columns(self, name: str) -> dict[str, float]:
        """Return the figure and the ends of its interval: ``<name>``, ``_low`` and ``_high``."""
        return {name: self.value, **ends(self.interval, f"{name}_")}


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


def wilson_interval(hits: int, runs: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a probability that showed in ``hits`` of ``runs`` runs."""
    low, high = stats.binomtest(hits, runs).proportion_ci(method="wilson")
    return float(low), float(high)


def ends(interval: tuple[float, float], name: str = "") -> dict[str, float]:
    """Return the ends of an interval as columns: ``<name>low`` and ``<name>high``."""
    return {f"{name}low": interval[0], f"{name}high": interval[1]}


def mean_estimate(values: FloatArray, name: str) -> Estimate:
    """Return the mean of a figure that each run has; a name has always the same resamples."""
    return mean_over_splits(values, weights(name, len(values)))


def line_slopes(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return the least-squares slope over x of each row of y (rows × len(x))."""
    centred = x - x.mean()
    return np.asarray(y @ centred / (centred @ centred))


def power(sizes: FloatArray, losses: FloatArray, name: str) -> Estimate:
    """Return p of E[R_T] ≈ C·T^p: the slope of log mean R_T over log T.

    Args:
        sizes: T.
        losses: R_T, runs × sizes; a run keeps its sizes together when runs are resampled.
        name: of the resamples.
    """
    if len(sizes) < 2 or len(set(sizes)) < len(sizes):
        raise ValueError(f"a power needs at least two different sizes, got {sorted(sizes)}")
    weight = weights(name, len(losses))
    means = np.vstack([losses.mean(axis=0), weight @ losses])
    with np.errstate(divide="ignore", invalid="ignore"):
        value, *resampled = line_slopes(np.log(sizes), np.log(means))
    return Estimate(float(value), np.array(resampled))

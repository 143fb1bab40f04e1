"""Shares, slopes and powers with their 95 % intervals; a run is the unit of replication."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from pipeline.paper.statistics.bootstrap import Estimate, mean_over_splits, weights

FloatArray = NDArray[np.float64]


def share_interval(hits: int, runs: int) -> tuple[float, float]:
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
    slopes: FloatArray = y @ centred / (centred @ centred)
    return slopes


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

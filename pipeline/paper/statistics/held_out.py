"""Two ways to report a method: alpha tuned on the reported splits, or on ten fresh ones.

The paper tunes alpha on the ten splits it reports (*hindsight*), which flatters whatever has an
alpha. Here the reported splits are the same ten, once under that alpha, and once under the alpha
that was best on ten others (*held out*).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pipeline.paper.by_setting import Setting
from pipeline.paper.published import BASELINE, CHAMPION
from pipeline.paper.statistics.alphas import FRESH, REPORTED, Grid
from pipeline.paper.statistics.bootstrap import (
    Estimate,
    FloatArray,
    mean_over_splits,
    ratio,
    weights,
)

TUNED_ON = {"hindsight": REPORTED, "held_out": FRESH}  # by way of tuning
WAYS = tuple(TUNED_ON)


@dataclass(frozen=True)
class Way:
    """One cell under one way of tuning.

    Attributes:
        alpha: the tuned one; the smallest with the least mean loss over the tuning splits.
        losses: R_T under it, on each reported split.
        loss: their mean.
        advantage: over greedy, 1 − loss / loss of greedy.
        ours_beats: probability that ``ours`` beats the method, see :func:`wins`; None for itself
            and where it has no results.
    """

    alpha: float
    losses: FloatArray
    loss: Estimate
    advantage: Estimate
    ours_beats: Estimate | None


Cell = dict[str, Way]


def cells_of(setting: Setting, found: Mapping[str, Grid]) -> dict[str, Cell]:
    """Return what can be told of a setting's methods, both ways.

    A method with gaps is left out, all are where greedy has gaps.
    """
    whole = {method: grid for method, grid in found.items() if not lacking(grid)}
    if BASELINE not in whole:
        return {}
    weight = weights(setting.dataset, len(REPORTED))
    return {method: {way: _way(whole, method, way, weight) for way in WAYS} for method in whole}


def lacking(grid: Grid | None) -> list[str]:
    """Return the ways for whose tuning splits losses are missing."""
    return [way for way, splits in TUNED_ON.items() if grid is None or not grid.has(splits)]


def wins(ours: FloatArray, rival: FloatArray) -> FloatArray:
    """Return for each split 1 where ours has the smaller loss, ½ for a tie, else 0.

    Their mean is the probability of improvement of Agarwal et al., *Deep Reinforcement Learning
    at the Edge of the Statistical Precipice*, NeurIPS 2021 (the package rliable), adapted to
    pairs: theirs compares every run of one algorithm with every run of the other, here both
    methods ran on the same splits and are compared split by split,

        P(ours beats rival) = mean over splits s of 1{ours_s < rival_s} + ½·1{ours_s = rival_s},

    then averaged over settings with equal weights, as theirs is over tasks.
    """
    won: FloatArray = (ours < rival) + 0.5 * (ours == rival)
    return won


def survives(hindsight: Estimate, held_out: Estimate) -> tuple[float, float, float]:
    """Return which share of an advantage is left when held out, and the interval of that share.

    NaN where there was no advantage; its interval NaN where that of the advantage reaches 0, as
    a share of what may be nothing can be anything.
    """
    if not hindsight.value > 0:
        return np.nan, np.nan, np.nan
    share = ratio(held_out, hindsight)
    low, high = share.interval if hindsight.interval[0] > 0 else (np.nan, np.nan)
    return share.value, low, high


def _way(whole: Mapping[str, Grid], method: str, way: str, weight: FloatArray) -> Way:
    alpha, losses = _reported(whole[method], way)
    _, greedy = _reported(whole[BASELINE], way)
    loss = mean_over_splits(losses, weight)
    cost = ratio(loss, mean_over_splits(greedy, weight))
    beats = None
    if method != CHAMPION and CHAMPION in whole:
        beats = mean_over_splits(wins(_reported(whole[CHAMPION], way)[1], losses), weight)
    return Way(alpha, losses, loss, Estimate(1 - cost.value, 1 - cost.resampled), beats)


def _reported(grid: Grid, way: str) -> tuple[float, FloatArray]:
    """Return the alpha that a way tunes, and its losses on the reported splits."""
    row = grid.tuned(TUNED_ON[way])
    return float(grid.alphas[row]), grid.on(REPORTED)[row]

"""Means over splits, and over runs that differ in their seed only: R_t/t, losses, rates of groups.

Of several runs a seed is the unit, not a split.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.results.journal import Run
from pipeline.results.outcome import Columns, Outcome

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
    return AverageLoss(rounds, average.mean(axis=0), _standard_error(average))


@dataclass(frozen=True)
class GroupRates:
    """One group of one run, over all splits.

    Attributes:
        group: its name.
        loss: mean over splits of its part of R_T.
        accepted_rate: accepted rows / rows.
        missed_rate: rows rejected though truly above the cutoff / rows truly above it.
        rows: of the group in all streams together.
    """

    group: str
    loss: float
    accepted_rate: float | None
    missed_rate: float | None
    rows: int


def group_rates(outcome: Outcome) -> list[GroupRates]:
    """Return the rates of each group, in the order of the groups; none where none is named."""
    if outcome.groups is None:
        return []
    tuned = outcome.groups["alpha"] == outcome.summary["alpha"]
    columns = {name: values[tuned] for name, values in outcome.groups.items()}
    found = []
    for name in dict.fromkeys(columns["group"].tolist()):
        part = {key: values[columns["group"] == name] for key, values in columns.items()}
        rows, above, accepted, missed = (
            int(part[key].sum()) for key in ("rows", "above", "accepted", "missed")
        )
        rates = _ratio(accepted, rows), _ratio(missed, above)
        found.append(GroupRates(str(name), float(part["loss"].mean()), *rates, rows))
    return found


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None


@dataclass(frozen=True)
class Figures:
    """What a table shows of one run, or of several seeds.

    Attributes:
        loss: of the run; the mean over seeds.
        standard_error: over splits; over seeds where there are several.
        alphas: the tuned ones, each once, in ascending order.
    """

    loss: float
    standard_error: float | None
    alphas: tuple[float, ...]


def figures_of(runs: Sequence[Run]) -> Figures:
    """Return the figures of a run, or the means of several."""
    found = [run.summary or {} for run in runs]
    alphas = tuple(sorted({float(one["alpha"] or 0.0) for one in found}))
    if len(found) == 1:
        return Figures(found[0]["loss"], found[0]["standard_error"], alphas)
    losses = np.array([one["loss"] for one in found], dtype=np.float64)
    return Figures(float(losses.mean()), float(_standard_error(losses)), alphas)


def curve_of(runs: Sequence[Run]) -> AverageLoss:
    """Return R_t/t of a run, or the mean of several."""
    curves = [average_loss(run.results().outcome().curves) for run in runs]
    if len(curves) == 1:
        return curves[0]
    rounds = min((curve.rounds for curve in curves), key=lambda some: int(some[-1]))
    means = np.array([np.interp(rounds, curve.rounds, curve.mean) for curve in curves])
    return AverageLoss(rounds, means.mean(axis=0), _standard_error(means))


def rates_of(runs: Sequence[Run]) -> list[GroupRates]:
    """Return the rates of each group, or their means; none where none is named."""
    found: dict[str, list[GroupRates]] = {}
    for run in runs:
        for rates in group_rates(run.results().outcome()):
            found.setdefault(rates.group, []).append(rates)
    return [
        GroupRates(
            group=group,
            loss=float(np.mean([one.loss for one in rates])),
            accepted_rate=_mean([one.accepted_rate for one in rates]),
            missed_rate=_mean([one.missed_rate for one in rates]),
            rows=sum(one.rows for one in rates),
        )
        for group, rates in found.items()
    ]


def _mean(rates: Sequence[float | None]) -> float | None:
    """Return the mean of those there are."""
    known = [rate for rate in rates if rate is not None]
    return float(np.mean(known)) if known else None


def _standard_error(values: np.ndarray) -> np.ndarray:
    """Return the standard error of the mean over the first axis; NaN where it has length 1."""
    if len(values) == 1:
        return np.full(values.shape[1:], np.nan)
    error: np.ndarray = values.std(axis=0, ddof=1) / np.sqrt(len(values))
    return error

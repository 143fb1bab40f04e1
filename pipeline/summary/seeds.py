"""Runs that differ in their seed only, as one: means over seeds, a seed being the unit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pipeline.results.average import AverageLoss, average_loss
from pipeline.results.groups import GroupRates, group_rates
from pipeline.results.journal import Run
from pipeline.results.outcome import Outcome
from pipeline.results.runs import RunFolder


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
    curves = [average_loss(_outcome(run).curves) for run in runs]
    if len(curves) == 1:
        return curves[0]
    rounds = min((curve.rounds for curve in curves), key=lambda some: int(some[-1]))
    means = np.array([np.interp(rounds, curve.rounds, curve.mean) for curve in curves])
    return AverageLoss(rounds, means.mean(axis=0), _standard_error(means))


def rates_of(runs: Sequence[Run]) -> list[GroupRates]:
    """Return the rates of each group, or their means; none where none is named."""
    found: dict[str, list[GroupRates]] = {}
    for run in runs:
        for rates in group_rates(_outcome(run)):
            found.setdefault(rates.group, []).append(rates)
    return [_mean_rates(rates) for rates in found.values()]


def _mean_rates(rates: Sequence[GroupRates]) -> GroupRates:
    return GroupRates(
        group=rates[0].group,
        loss=float(np.mean([one.loss for one in rates])),
        accepted_rate=_mean([one.accepted_rate for one in rates]),
        missed_rate=_mean([one.missed_rate for one in rates]),
        rows=sum(one.rows for one in rates),
    )


def _mean(rates: Sequence[float | None]) -> float | None:
    """Return the mean of those there are."""
    known = [rate for rate in rates if rate is not None]
    return float(np.mean(known)) if known else None


def _standard_error(values: np.ndarray) -> np.ndarray:
    error: np.ndarray = values.std(axis=0, ddof=1) / np.sqrt(len(values))
    return error


def _outcome(run: Run) -> Outcome:
    return RunFolder(Path(str(run.folder))).outcome()

"""Theorem 1: greedy loses a group of rows for ever, and its loss grows with T.

A row is v with probability 1/10, the others are orthogonal to v. What is learned from them changes
neither the estimate for v nor its width, so a rule with a constant alpha that rejects v once
rejects it ever after: v is lost in a run that missed v at all.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from pipeline.cells.cell import Cell
from pipeline.data.splits import initial_size
from pipeline.data.synthetic import TRAP_GROUPS
from pipeline.results.average import AverageLoss, average_of
from pipeline.theory.estimates import FloatArray, ends, line_slopes, mean_estimate, share_interval
from pipeline.theory.experiment import Measured, Result, results_of

EXPERIMENTS = ("greedy_trap", "greedy_trap_logistic")
OPTIONS: dict[str, str] = {}
BOUND = 0.1  # of the theorem's proof: P(v is lost) ≥ 1/10
WARM_UP = 0.1  # share of the rounds that the fitted lines leave out


@dataclass(frozen=True)
class Runs:
    """All runs of one link and method.

    Attributes:
        cell: one of their cells; they differ in the seed of the data only.
        alpha: of the method.
        rounds: t.
        losses: R_t, runs × rounds.
        accepted: rows v that were accepted, by run.
        missed: rows v that were rejected, by run.
    """

    cell: Cell
    alpha: float
    rounds: NDArray[np.int64]
    losses: FloatArray
    accepted: NDArray[np.int64]
    missed: NDArray[np.int64]

    @property
    def average(self) -> AverageLoss:
        """Return R_t/t, mean and standard error over runs."""
        return average_of(self.rounds, self.losses)

    @property
    def key(self) -> tuple[str, str]:
        """Return link and method."""
        return self.cell.link, self.cell.method.name


def measure(options: argparse.Namespace) -> Measured[Runs]:
    """Run the trap: who lost v, and how fast the loss grows."""
    every = [runs for name in EXPERIMENTS for runs in gather(results_of(name, options.overrides))]
    return Measured({"trap": pd.DataFrame([row_of(runs) for runs in every])}, every)


def said(found: Measured[Runs]) -> Iterator[str]:
    """Yield a line for each link and method."""
    for row in found.tables["trap"].to_dict("records"):
        yield (
            f"{row['link']}, {row['method']}: v lost in {row['lost']} of {row['runs']} runs "
            f"({row['lost_low']:.3f} to {row['lost_high']:.3f}), loss a row {row['slope']:.4f}"
        )


def gather(results: Sequence[Result]) -> list[Runs]:
    """Return the runs by link and method, each split of each cell as one."""
    by_key: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        by_key.setdefault((result.cell.link, result.cell.method.name), []).append(result)
    return [_joined(part) for part in by_key.values()]


def _joined(results: Sequence[Result]) -> Runs:
    alphas = {float(result.outcome.summary["alpha"]) for result in results}
    if len(alphas) > 1:
        raise ValueError("alpha: the trap is run under one alpha, not one chosen for each run")
    curves = [pd.DataFrame(result.outcome.curves) for result in results]
    wide = [curve.pivot(index="split", columns="round", values="loss") for curve in curves]
    counts = pd.concat([_v_of(result) for result in results])
    return Runs(
        cell=results[0].cell,
        alpha=alphas.pop(),
        rounds=wide[0].columns.to_numpy(np.int64),
        losses=np.vstack([part.to_numpy(np.float64) for part in wide]),
        accepted=counts["accepted"].to_numpy(np.int64),
        missed=counts["missed"].to_numpy(np.int64),
    )


def _v_of(result: Result) -> pd.DataFrame:
    """Return what became of the rows v, a line for each split."""
    if result.outcome.groups is None:
        raise ValueError(f"dataset {result.cell.dataset_label} has no group {TRAP_GROUPS[0]}")
    groups = pd.DataFrame(result.outcome.groups)
    return groups[groups["group"] == TRAP_GROUPS[0]].sort_values("split")


def row_of(runs: Runs) -> dict[str, object]:
    """Return the figures of one link and method."""
    n = len(runs.missed)
    lost, at_once = int((runs.missed > 0).sum()), int((runs.accepted == 0).sum())
    slopes = [_slope(runs, *part) for part in ((WARM_UP, 1.0), (WARM_UP, 0.5), (0.5, 1.0))]
    estimate = mean_estimate(slopes[0], "trap")
    data = runs.cell.dataset
    link, method = runs.key
    return {
        "link": link,
        "method": method,
        "alpha": runs.alpha,
        "runs": n,
        "lost": lost,
        "lost_share": lost / n,
        **ends(share_interval(lost, n), "lost_"),
        "at_once": at_once,
        "at_once_share": at_once / n,
        **ends(share_interval(at_once, n), "at_once_"),
        "at_once_exact": exact_at_once(runs.cell) if _is_exact(link, method) else np.nan,
        "slope": estimate.value,
        **ends(estimate.interval, "slope_"),
        "slope_of_v": lost / n * float(data["share"]) * float(data["gap"]),
        "slope_first_half": float(slopes[1].mean()),
        "slope_second_half": float(slopes[2].mean()),
        "average_loss": float(runs.losses[:, -1].mean() / runs.rounds[-1] / _batch(runs)),
    }


def exact_at_once(cell: Cell) -> float:
    """Return P(greedy or erm rejects v at once) without a ridge, linear link: E[Φ(−τ√n′/σ)].

    n′, the number of rows v in the warm start, is binomial; the theorem wants at least one.
    """
    data = cell.dataset
    n = initial_size(int(data["n"]), **cell.setting.initial)
    counts = np.arange(1, n + 1)
    chance = stats.binom.pmf(counts, n, float(data["share"]))
    rejected = stats.norm.cdf(-float(data["gap"]) * np.sqrt(counts) / float(data["noise"]))
    return float(chance @ rejected / chance.sum())


def _is_exact(link: str, method: str) -> bool:
    """Tell whether v is decided by the mean of its labels, as least squares and erm do."""
    return link == "linear" and method in ("greedy", "erm")


def _slope(runs: Runs, first: float, last: float) -> FloatArray:
    """Return the slope of R_t a row between two shares of the stream, for each run."""
    share = runs.rounds / runs.rounds[-1]
    chosen = (share >= first) & (share <= last)
    x = runs.rounds[chosen].astype(np.float64) * _batch(runs)
    if len(x) < 2:
        raise ValueError("curve_points: too few to fit a line through R_t")
    return line_slopes(x, runs.losses[:, chosen])


def _batch(runs: Runs) -> int:
    return runs.cell.setting.batch_size

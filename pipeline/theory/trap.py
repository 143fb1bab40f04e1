"""Theorem 1: greedy loses a group of rows for ever, and its loss grows with T.

A row is v with probability 1/10, the others are orthogonal to v. What is learned from them changes
neither the estimate for v nor its width, so a rule with a constant alpha that rejects v once
rejects it ever after: v is lost in a run that missed v at all.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray
from scipy import stats

from pipeline.cells.cell import Cell
from pipeline.data.splits import initial_size
from pipeline.data.synthetic import TRAP_GROUPS
from pipeline.paper.estimates import FloatArray, ends, line_slopes, mean_estimate, wilson_interval
from pipeline.results.average import AverageLoss, average_of
from pipeline.theory.driver import Measured, Result, lines, page_of, results_of
from pipeline.view.curves import AVERAGE_LOSS, ROUND, draw_lines
from pipeline.view.figure import legend, sheet
from pipeline.view.names import method_name
from pipeline.view.page import Items, Page, Picture, TextTable
from pipeline.view.style import look

EXPERIMENTS = ("greedy_trap", "greedy_trap_logistic")
OPTIONS: dict[str, str] = {}
BOUND = 0.1  # of the theorem's proof: P(v is lost) ≥ 1/10
WARM_UP = 0.1  # share of the rounds that the fitted lines leave out
COLUMNS = {
    "link": "{link}",
    "method": "{method}",
    "alpha": "{alpha:g}",
    "runs": "{runs:,}",
    "v lost for ever": "{lost_share:.3f} ({lost_low:.3f} – {lost_high:.3f})",
    "rejected at once": "{at_once_share:.3f} ({at_once_low:.3f} – {at_once_high:.3f})",
    "loss a row": "{slope:.4f} ({slope_low:.4f} – {slope_high:.4f})",
    "P(lost)·P(v)·τ": "{slope_of_v:.4f}",
    "first half": "{slope_first_half:.4f}",
    "second half": "{slope_second_half:.4f}",
}
WITHOUT_ALPHA = ("greedy", "erm")
SAID = (
    "{link}, {method}: v lost in {lost} of {runs} runs ({lost_low:.3f} to {lost_high:.3f}), "
    "loss a row {slope:.4f}"
)


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
    every = gather(results_of(EXPERIMENTS, options.overrides))
    table = pd.DataFrame([row_of(runs) for runs in every])
    return Measured({"trap": table}, every, lines(SAID, table))


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
    (link, method), data, batch = runs.key, runs.cell.dataset, runs.cell.setting.batch_size
    by_mean = link == "linear" and method in WITHOUT_ALPHA  # of the labels of v
    return {
        "link": link,
        "method": method,
        "alpha": runs.alpha,
        "runs": n,
        "lost": lost,
        "lost_share": lost / n,
        **ends(wilson_interval(lost, n), "lost_"),
        "at_once": at_once,
        "at_once_share": at_once / n,
        **ends(wilson_interval(at_once, n), "at_once_"),
        "at_once_exact": exact_at_once(runs.cell) if by_mean else np.nan,
        **mean_estimate(slopes[0], "trap").columns("slope"),
        "slope_of_v": lost / n * float(data["share"]) * float(data["gap"]),
        "slope_first_half": float(slopes[1].mean()),
        "slope_second_half": float(slopes[2].mean()),
        "average_loss": float(runs.losses[:, -1].mean() / runs.rounds[-1] / batch),
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


def _slope(runs: Runs, first: float, last: float) -> FloatArray:
    """Return the slope of R_t a row between two shares of the stream, for each run."""
    share = runs.rounds / runs.rounds[-1]
    chosen = (share >= first) & (share <= last)
    x = runs.rounds[chosen].astype(np.float64) * runs.cell.setting.batch_size
    if len(x) < 2:
        raise ValueError("curve_points: too few to fit a line through R_t")
    return line_slopes(x, runs.losses[:, chosen])


def figure(found: Measured[Runs]) -> Figure:
    """Return the figure of Appendix B, with greedy also by what became of v."""
    every = found.runs
    links = list(dict.fromkeys(runs.key[0] for runs in every))
    drawn, axes = sheet(1, len(links), (4.6 * len(links), 3.9))
    for axis, link in zip(axes, links, strict=True):
        here = [runs for runs in every if runs.key[0] == link]
        draw_lines(axis, {runs.key[1]: runs.average for runs in here})
        for runs in here:
            if runs.key[1] == "greedy":
                _draw_parts(axis, runs)
        axis.set_ylim(bottom=0)  # what stays up, and what falls
        size = here[0].cell.setting.batch_size
        rows = "1 row" if size == 1 else f"{size} rows"
        axis.set(title=f"{link} link, {rows} a round", xlabel=ROUND, ylabel=AVERAGE_LOSS)
    thin: dict[str, Any] = {"color": look("greedy").colour, "linewidth": 0.8}
    legend(
        drawn,
        dict.fromkeys(runs.key[1] for runs in every),
        Line2D([], [], **thin, label="greedy, runs that lost v"),
        Line2D([], [], **thin, linestyle=(0, (6, 3)), label="greedy, runs that kept v"),
    )
    return drawn


def _draw_parts(axis: Axes, runs: Runs) -> None:
    """Draw the mean over the runs that lost v, and over the others."""
    styles: dict[bool, Any] = {True: "solid", False: (0, (6, 3))}
    for lost, style in styles.items():
        part = runs.losses[(runs.missed > 0) == lost]
        if len(part):
            mean = part.mean(axis=0) / runs.rounds
            axis.plot(runs.rounds, mean, color="#000000", linewidth=0.8, linestyle=style)


def page(found: Measured[Runs]) -> Page:
    """Return the page: shares and slopes with their intervals."""
    table = found.tables["trap"]
    exact = table["at_once_exact"].dropna()[:1]
    said = "Exact, linear link, greedy: v is rejected at once with probability E[Φ(−τ√n′/σ)] = "
    return page_of(
        "Theorem 1: greedy does not converge",
        f"""The theorem: greedy loses v with a probability of at least {BOUND:g}, and its loss then
        grows linearly. Shares have Wilson's 95 % intervals, the loss a row (slope of R_t after the
        first tenth) has a bootstrap interval over runs; a run has data of its own.""",
        Items([setting_text(runs) for runs in found.runs if runs.key[1] == "greedy"]),
        runs_table(table),
        *(f"{said}{value:.3f}." for value in exact),
        Picture("Average one-sided loss of greedy and ours", "trap.png"),
    )


def runs_table(table: pd.DataFrame) -> TextTable:
    """Return who lost v, how fast the loss grows."""
    shown = table.assign(
        method=table["method"].map(method_name),
        alpha=table["alpha"].mask(table["method"].isin(WITHOUT_ALPHA)),
    )
    return TextTable.of(COLUMNS, shown, ("link", "method"))


def setting_text(runs: Runs) -> str:
    """Return what the runs of a link have in common."""
    data, setting = runs.cell.dataset, runs.cell.setting
    return (
        f"{runs.key[0]} link: n = {data['n']:,}, d = {data['d']}, c = {data['cutoff']:g}, "
        f"τ = {data['gap']:g}, P(v) = {data['share']:g}, ridge {setting.model['l2']:g}, "
        f"{setting.batch_size} row(s) a round"
    )

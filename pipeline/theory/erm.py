"""The alternative greedy, which minimises the empirical one-sided loss: how often it loses a group.

Appendix B: rows come in groups orthogonal to each other, so each group is decided by itself, and it
is lost where the mean of its labels is below the cutoff. With t labels y ~ N(c + τ, σ²) that has
the probability Φ(−τ√t/σ), which is measured here; Appendix B prints "> 1/5" at τ = 1/√t, σ = 1.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy import stats

from pipeline.core.learner import OneSidedLearner
from pipeline.paper.estimates import FloatArray, ends, wilson_interval
from pipeline.theory.driver import Measured, lines, page_of, results_of
from pipeline.theory.trap import Runs, gather, row_of, runs_table, setting_text
from pipeline.view.curves import AVERAGE_LOSS, ROUND, draw_lines
from pipeline.view.figure import sheet
from pipeline.view.page import Items, Page, Picture, TextTable
from pipeline.view.style import look

EXPERIMENTS = ("greedy_trap_erm",)
OPTIONS = {"groups": "orthogonal groups of each measurement"}
PRINTED = 0.2  # of Appendix B: P(a group is lost) > 1/5
SIZES = (4, 9, 16, 100)  # t, labels of a group
MARGINS = (0.25, 0.5, 1.0, 1.5, 2.0)  # τ√t/σ
CUTOFF, NOISE = 0.5, 1.0  # c and σ
TOGETHER = 20  # groups that one learner has
COLUMNS = {
    "t": "{t}",
    "τ√t/σ": "{margin:g}",
    "groups": "{groups:,}",
    "lost": "{share:.3f} ({low:.3f} – {high:.3f})",
    "Φ(−τ√t/σ)": "{exact:.3f}",
    "bound as printed": "{printed_bound:.3f}",
}
SAID_OF_GROUPS = (
    "t = {t}, τ√t/σ = 1: lost {share:.3f} of the groups ({low:.3f} to {high:.3f}), "
    "exact {exact:.3f}"
)
MARKERS = "os^Dv"
EXACT, PAPER = "#000000", "#888888"
APART = 0.02  # distance of the points of two t at the same τ√t/σ


def measure(options: argparse.Namespace) -> Measured[Runs]:
    """Measure the share of groups lost, and run the trap."""
    every = gather(results_of(EXPERIMENTS, options.overrides))
    groups, trap = groups_table(options.groups), pd.DataFrame([row_of(runs) for runs in every])
    of_groups = lines(SAID_OF_GROUPS, groups[groups["margin"] == 1.0])
    of_trap = lines("{method}: v lost in {lost} of {runs} runs", trap)
    return Measured({"erm": groups, "erm_trap": trap}, every, [*of_groups, *of_trap])


def groups_table(groups: int) -> pd.DataFrame:
    """Return the share of groups lost beside Φ(−τ√t/σ), a line for each t and τ√t/σ."""
    return pd.DataFrame([_row(t, margin, groups) for t in SIZES for margin in MARGINS])


def _row(t: int, margin: float, groups: int) -> dict[str, Any]:
    lost = lost_groups(t, margin, groups)
    return {
        "t": t,
        "margin": margin,
        "groups": groups,
        "lost": lost,
        "share": lost / groups,
        **ends(wilson_interval(lost, groups)),
        "exact": failure_probability(margin),
        "printed_bound": printed_bound(margin),
    }


def lost_groups(t: int, margin: float, groups: int) -> int:
    """Return how many orthogonal groups ``method=erm`` rejects after t labels of each.

    Labels are N(c + τ, σ²) with τ√t/σ = margin. A group that is rejected gets no label any more,
    so it is lost for ever.
    """
    lost = 0
    for first in range(0, groups, TOGETHER):
        vectors = np.eye(min(TOGETHER, groups - first))
        learner = OneSidedLearner(method="erm", cutoff=CUTOFF, fit_intercept=False)
        learner.fit(np.tile(vectors, (t, 1)), labels(t, margin, first, len(vectors)))
        lost += int((~learner.decide(vectors).accepted).sum())
    return lost


def labels(t: int, margin: float, first: int, groups: int) -> FloatArray:
    """Return t labels of each group, the groups in turn; they are those of t, margin and first."""
    rng = np.random.default_rng([t, round(100 * margin), first])
    return rng.normal(CUTOFF + margin * NOISE / np.sqrt(t), NOISE, size=t * groups)


def failure_probability(margin: float) -> float:
    """Return Φ(−τ√t/σ), the probability that Σ (y − c) < 0."""
    return float(stats.norm.cdf(-margin))


def printed_bound(margin: float) -> float:
    """Return (1/2π)·√tστ/(tτ² + σ²)·exp(−tτ²/2σ²) of Appendix B, in m = τ√t/σ."""
    return float(margin / (margin**2 + 1) * np.exp(-0.5 * margin**2) / (2 * np.pi))


def lost_by_both(every: Sequence[Runs], methods: tuple[str, str]) -> int | None:
    """Return in how many runs two methods both lost v; None where one of them did not run.

    Their runs are in the same order, that of the seeds of the data.
    """
    found = {runs.key[1]: runs.missed > 0 for runs in every}
    if not set(methods) <= set(found):
        return None
    return int((found[methods[0]] & found[methods[1]]).sum())


def figure(found: Measured[Runs]) -> Figure:
    """Return the figure: left the probability that a group is lost, right the trap."""
    drawn, (left, right) = sheet(1, 2, (9.6, 4.0))
    _draw_exact(left)
    _draw_measured(left, found.tables["erm"])
    left.set(xlabel="τ√t/σ", ylabel="share of the groups lost", xlim=(0, 2.2), ylim=(0, 0.5))
    left.set_title("orthogonal groups, t labels each")
    left.legend(fontsize="small", loc="upper right")
    _draw_trap(right, found.runs)
    return drawn


def _draw_exact(axis: Axes) -> None:
    """Draw Φ(−τ√t/σ), its value at τ = 1/√t and σ = 1, and what Appendix B prints there."""
    margin = np.linspace(0.0, 2.2, 200)
    axis.plot(margin, stats.norm.cdf(-margin), color=EXACT, linewidth=1.2, label="exact, Φ(−τ√t/σ)")
    axis.axhline(
        PRINTED, color=PAPER, linewidth=1.2, dashes=(5, 2), label="Appendix B at τ√t/σ = 1: > 1/5"
    )
    there = failure_probability(1.0)
    ring: dict[str, Any] = {"markersize": 15, "markerfacecolor": "none", "color": EXACT}
    axis.plot([1.0], [there], "o", **ring, zorder=1)
    axis.annotate(f"{there:.3f}", (1.0, there), (-11, -13), textcoords="offset points", ha="right")


def _draw_measured(axis: Axes, groups: pd.DataFrame) -> None:
    """Draw the shares with their intervals, the points of different t side by side."""
    sizes = list(dict.fromkeys(groups["t"]))
    for number, (t, marker) in enumerate(zip(sizes, MARKERS, strict=False)):
        part = groups[groups["t"] == t]
        ends = np.array([part["share"] - part["low"], part["high"] - part["share"]])
        place = part["margin"] + APART * (number - (len(sizes) - 1) / 2)
        axis.errorbar(
            place, part["share"], ends, fmt=marker, color=look("erm").colour, markersize=3.5,
            linewidth=0.9, label=f"erm, t = {t}",
        )  # fmt: skip


def _draw_trap(axis: Axes, every: Sequence[Runs]) -> None:
    """Draw R_t/t of each method; the legend says how often v was lost."""
    draw_lines(axis, {runs.key[1]: runs.average for runs in every})
    for runs in every:
        shown = look(runs.key[1])
        label = f"{shown.label}: v lost in {(runs.missed > 0).sum()} of {len(runs.missed)} runs"
        axis.plot([], [], **shown.line, label=label)
    axis.set(title="the trap, linear link", xlabel=ROUND, ylabel=AVERAGE_LOSS)
    axis.set_ylim(0, 1.25 * axis.get_ylim()[1])
    axis.legend(fontsize="small", loc="upper right", handlelength=4.2)


def page(found: Measured[Runs]) -> Page:
    """Return the page: the share of groups lost, and what became of v in the trap."""
    groups, trap, every = found.tables["erm"], found.tables["erm_trap"], found.runs
    return page_of(
        "The alternative greedy: least empirical one-sided loss",
        """**Orthogonal groups**, decided by `method=erm` after t labels y ~ N(c + τ, σ²) of each. A
        group is lost, for ever, with probability Φ(−τ√t/σ). Shares have Wilson's 95 %
        intervals.""",
        TextTable.of(COLUMNS, groups),
        f"""Appendix B prints that the probability is more than 1/5 at τ = 1/√t, σ = 1. It is
        {failure_probability(1.0):.3f} there: {_beside(groups)}. *As printed* is its lower bound
        (1/2π)·√tστ/(tτ² + σ²)·exp(−tτ²/2σ²).""",
        """**The trap**, `experiment=greedy_trap_erm`, where erm is exact for v and a search for a
        local minimum elsewhere. Columns as in Theorem 1.""",
        Items([setting_text(runs) for runs in every[:1]]),
        runs_table(trap),
        *_said_of_v(trap, every),
        Picture("Share of groups lost, and the average one-sided loss in the trap", "erm.png"),
    )


def _beside(groups: pd.DataFrame) -> str:
    """Return how the intervals lie to the exact values, and those at τ√t/σ = 1 to 1/5."""
    holds = (groups["low"] <= groups["exact"]) & (groups["exact"] <= groups["high"])
    there = groups["margin"] == 1.0
    below = groups["high"][there] < PRINTED
    return (
        f"{int(holds[there].sum())} of {len(below)} intervals hold it (of all in the table, "
        f"{int(holds.sum())} of {len(holds)} hold their value), "
        f"{int(below.sum())} of {len(below)} end below 1/5"
    )


def _said_of_v(trap: pd.DataFrame, every: Sequence[Runs]) -> list[str]:
    """Return what greedy and erm have in common: v is decided by the mean of its labels."""
    both = lost_by_both(every, ("greedy", "erm"))
    if both is None:
        return []
    exact = trap["at_once_exact"].dropna().iloc[0]
    return [
        f"""Both greedy and erm decide v by the mean of its labels, so that it is rejected at once
        with probability E[Φ(−τ√n′/σ)] = {exact:.3f}; erm searches again only when its rows have
        grown by 5 %. On the same data both lost v in {both} runs."""
    ]

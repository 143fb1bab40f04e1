"""Theorem 1: the page and the figure of Appendix B."""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from pipeline.theory.experiment import Measured
from pipeline.theory.trap.measure import BOUND, Runs
from pipeline.view.curves import AVERAGE_LOSS, ROUND, draw_lines
from pipeline.view.figure import legend, sheet
from pipeline.view.names import method_name
from pipeline.view.page import Block, Items, Page, Picture, Text, TextTable
from pipeline.view.style import look

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
        cell = here[0].cell
        rows = "1 row" if cell.setting.batch_size == 1 else f"{cell.setting.batch_size} rows"
        axis.set_title(f"{link} link, {rows} a round", fontsize="medium")
        axis.set_xlabel(ROUND)
        axis.set_ylabel(AVERAGE_LOSS)
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
    blocks: list[Block] = [
        Text(
            f"The theorem: greedy loses v with a probability of at least {BOUND:g}, and its loss "
            "then grows linearly. Shares have Wilson's 95 % intervals, the loss a row (slope of "
            "R_t after the first tenth) has a bootstrap interval over runs; a run has data of its "
            "own."
        ),
        Items([setting_text(runs) for runs in found.runs if runs.key[1] == "greedy"]),
        runs_table(table),
    ]
    for exact in table["at_once_exact"].dropna()[:1]:
        said = f"v is rejected at once with probability E[Φ(−τ√n′/σ)] = {exact:.3f}."
        blocks.append(Text(f"Exact, linear link, greedy: {said}"))
    blocks.append(Picture("Average one-sided loss of greedy and ours", "trap.png"))
    return Page("Theorem 1: greedy does not converge", blocks)


def runs_table(table: pd.DataFrame) -> TextTable:
    """Return who lost v, how fast the loss grows."""
    shown = table.assign(
        method=table["method"].map(method_name),
        alpha=table["alpha"].mask(table["method"].isin(WITHOUT_ALPHA)),
    )
    return TextTable.of(COLUMNS, shown.to_dict("records"), ("link", "method"))


def setting_text(runs: Runs) -> str:
    """Return what the runs of a link have in common."""
    data, setting = runs.cell.dataset, runs.cell.setting
    return (
        f"{runs.key[0]} link: n = {data['n']:,}, d = {data['d']}, c = {data['cutoff']:g}, "
        f"τ = {data['gap']:g}, P(v) = {data['share']:g}, ridge {setting.model['l2']:g}, "
        f"{setting.batch_size} row(s) a round"
    )

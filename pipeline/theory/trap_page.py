"""Theorem 1: the page and the figure of Appendix B."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from pipeline.results.average import AverageLoss
from pipeline.theory.trap import BOUND, Runs
from pipeline.view.curves import AVERAGE_LOSS, ROUND, draw_lines
from pipeline.view.figure import legend, save_all, sheet
from pipeline.view.names import method_name
from pipeline.view.page import markdown_line
from pipeline.view.style import look

HEADS = (
    "link", "method", "alpha", "runs", "v lost for ever", "rejected at once", "loss a row",
    "P(lost)·P(v)·τ", "first half", "second half",
)  # fmt: skip
WITHOUT_ALPHA = ("greedy", "erm")


def draw(every: Sequence[Runs], folder: Path) -> list[Path]:
    """Draw R_t/t of each method, a panel for each link; return the files."""
    return save_all(figure_of(every), folder, "trap")


def figure_of(every: Sequence[Runs]) -> Figure:
    """Return the figure of Appendix B, with greedy also by what became of v."""
    links = list(dict.fromkeys(runs.key[0] for runs in every))
    figure, axes = sheet(1, len(links), (4.6 * len(links), 3.9))
    for axis, link in zip(axes, links, strict=True):
        here = [runs for runs in every if runs.key[0] == link]
        draw_lines(axis, {runs.key[1]: average_loss(runs) for runs in here})
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
        figure,
        dict.fromkeys(runs.key[1] for runs in every),
        Line2D([], [], **thin, label="greedy, runs that lost v"),
        Line2D([], [], **thin, linestyle=(0, (6, 3)), label="greedy, runs that kept v"),
    )
    return figure


def average_loss(runs: Runs) -> AverageLoss:
    """Return R_t/t, mean and standard error over runs."""
    average = runs.losses / runs.rounds
    n = len(average)
    error = average.std(axis=0, ddof=1) / np.sqrt(n) if n > 1 else np.full(len(runs.rounds), np.nan)
    return AverageLoss(runs.rounds, average.mean(axis=0), error)


def _draw_parts(axis: Axes, runs: Runs) -> None:
    """Draw the mean over the runs that lost v, and over the others."""
    styles: dict[bool, Any] = {True: "solid", False: (0, (6, 3))}
    for lost, style in styles.items():
        part = runs.losses[(runs.missed > 0) == lost]
        if len(part):
            mean = part.mean(axis=0) / runs.rounds
            axis.plot(runs.rounds, mean, color="#000000", linewidth=0.8, linestyle=style)


def page(table: pd.DataFrame, every: Sequence[Runs]) -> str:
    """Return the page: shares and slopes with their intervals."""
    lines = [
        "# Theorem 1: greedy does not converge",
        "",
        f"The theorem: greedy loses v with a probability of at least {BOUND:g}, and its loss then "
        "grows linearly. Shares have Wilson's 95 % intervals, the loss a row (slope of R_t after "
        "the first tenth) has a bootstrap interval over runs; a run has data of its own.",
        "",
        *(setting_text(runs) for runs in every if runs.key[1] == "greedy"),
        "",
        *table_lines(table),
        "",
        "![Average one-sided loss of greedy and ours](trap.png)",
    ]
    exact = table["at_once_exact"].dropna()
    if len(exact):
        lines.insert(-2, "")
        lines.insert(
            -2,
            f"Exact, linear link, greedy: v is rejected at once with probability "
            f"E[Φ(−τ√n′/σ)] = {exact.iloc[0]:.3f}.",
        )
    return "\n".join(lines) + "\n"


def table_lines(table: pd.DataFrame) -> list[str]:
    """Return the lines of the table: who lost v, how fast the loss grows."""
    rule = markdown_line(["---", "---", *["---:"] * (len(HEADS) - 2)])
    rows = (markdown_line(_cells(row)) for row in table.to_dict("records"))
    return [markdown_line(HEADS), rule, *rows]


def setting_text(runs: Runs) -> str:
    """Return what the runs of a link have in common."""
    data, setting = runs.cell.dataset, runs.cell.setting
    return (
        f"- {runs.key[0]} link: n = {data['n']:,}, d = {data['d']}, c = {data['cutoff']:g}, "
        f"τ = {data['gap']:g}, P(v) = {data['share']:g}, ridge {setting.model['l2']:g}, "
        f"{setting.batch_size} row(s) a round"
    )


def _cells(row: dict[str, Any]) -> list[str]:
    def share(name: str) -> str:
        low, high = row[f"{name}_low"], row[f"{name}_high"]
        return f"{row[f'{name}_share']:.3f} ({low:.3f} – {high:.3f})"

    return [
        row["link"],
        method_name(row["method"]),
        f"{row['alpha']:g}" if row["method"] not in WITHOUT_ALPHA else "–",
        f"{row['runs']:,}",
        share("lost"),
        share("at_once"),
        f"{row['slope']:.4f} ({row['slope_low']:.4f} – {row['slope_high']:.4f})",
        *(f"{row[name]:.4f}" for name in ("slope_of_v", "slope_first_half", "slope_second_half")),
    ]

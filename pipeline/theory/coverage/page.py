"""Algorithm 2 with its constants: the page and the figure."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pipeline.theory.coverage.confidence import theory_of
from pipeline.theory.coverage.measure import Coverage
from pipeline.theory.experiment import Measured
from pipeline.view.figure import bare, sheet
from pipeline.view.page import Block, Items, Page, Picture, Text, TextTable
from pipeline.view.style import look

COVERAGE = {
    "link": "{link}",
    "runs": "{runs}",
    "statement holds": "{share:.3f} ({share_low:.3f} – {share_high:.3f})",
    "ρ_T": "{rho_last:.0f}",
    "needed / ρ_t: median run": "{worst_median:.2g}",
    "worst run": "{worst_max:.2g}",
    "enough for 1 − δ": "{enough:.2g}",
    "accepted": "{accepted_share:.2%}",
}
REJECTION = (
    "link", "rejects from T ≈", "measured (median of 3 runs)", "Theorem 2 says something from T ≈",
)  # fmt: skip
BOUND = {
    "link": "{link}",
    "T": "{rounds:,}",
    "R_T": "{loss:,.1f}",
    "bound": "{bound:,.0f}",
    "bound / R_T": "{bound_over_loss:,.0f}",
    "accepted": "{accepted_share:.2%}",
    "ρ_T": "{rho:.0f}",
    "tuned alpha": "{tuned_alpha:.2g}",
    "alpha / ρ_T": "{tuned_over_rho:.1e}",
    "R_T of tuned ours": "{ours_loss:.2f} ± {ours_standard_error:.2f}",
}
RHO, NEEDED = "#000000", "#777777"  # no method's colours: they are no methods


def figure(found: Measured[Coverage]) -> Figure:
    """Return for each link ρ_t beside what it had to be, and R_T beside Theorem 2."""
    widths, bound = found.tables["widths"], found.tables["bound"]
    links = list(dict.fromkeys(widths["link"]))
    drawn, axes = sheet(len(links), 2, (9.6, 3.7 * len(links)))
    for number, link in enumerate(links):
        pair, losses = axes[2 * number : 2 * number + 2], bound[bound["link"] == link]
        followed = widths[widths["link"] == link]
        for axis in pair:
            axis.set_title(f"{link} link", fontsize="medium")
            axis.set(xscale="log", yscale="log")
            bare(axis)
        _draw_widths(pair[0], followed, _of_rounds(losses, int(followed["round"].max())))
        _draw_losses(pair[1], losses)
    return drawn


def _of_rounds(losses: pd.DataFrame, rounds: int) -> pd.Series[Any]:
    """Return the cell of as many rounds as ρ_t is drawn for: alpha is tuned for each T anew."""
    row: pd.Series[Any] = losses[losses["rounds"] == rounds].iloc[0]
    return row


def _draw_widths(axis: Axes, part: pd.DataFrame, losses: pd.Series[Any]) -> None:
    t = part["round"]
    axis.plot(t, part["rho"], color=RHO, linewidth=2.2, label="ρ_t of Algorithm 2")
    axis.plot(t, part["needed_max"], color=NEEDED, dashes=(1, 1), label="needed, worst run")
    axis.plot(t, part["needed_median"], color=NEEDED, linewidth=2.2, label="needed, median run")
    axis.fill_between(t, part["needed_median"], part["needed_95"], color=NEEDED, alpha=0.2,
                      linewidth=0, label="up to 95% of the runs")  # fmt: skip
    tuned = f"alpha of ours, tuned ({losses['tuned_alpha']:.2g})"
    axis.axhline(losses["tuned_alpha"], **look("ours").line, label=tuned)
    axis.set_title(f"{axis.get_title()}, T = {losses['rounds']:,}", fontsize="medium")
    axis.set(xlabel="round t", ylabel="coefficient of sqrt(x'A⁻¹x)")
    axis.set_ylim(top=axis.get_ylim()[1] * 30)
    axis.legend(frameon=False, fontsize="small", ncols=2, loc="upper left")


def _draw_losses(axis: Axes, part: pd.DataFrame) -> None:
    T = part["rounds"]
    axis.plot(T, part["bound"], color=RHO, linewidth=2.2, marker="s", label="bound of Theorem 2")
    axis.plot(T, part["loss"], **look("ours_theory").line, marker="o",
              label="R_T with the constants")  # fmt: skip
    axis.plot(T, part["ours_loss"], **look("ours").line, marker="^",
              label="R_T of ours, alpha tuned")  # fmt: skip
    axis.set(xlabel="T", ylabel="cumulative one-sided loss")
    axis.set_ylim(top=axis.get_ylim()[1] * 100)
    axis.legend(frameon=False, fontsize="small", loc="upper left")


def page(found: Measured[Coverage]) -> Page:
    """Return the page."""
    coverage, bound = (found.tables[name].to_dict("records") for name in ("coverage", "bound"))
    blocks: list[Block] = [
        Text(
            "The statement: for all x and all rounds t ≥ 2 (ρ₁ = 0), "
            "|μ(x'β*) − μ(x'β_t)| ≤ ρ_t(δ)·sqrt(x'A⁻¹x), with probability 1 − δ at least. "
            "*needed* is the least ρ_t for which it holds for every x, L·‖β_t − β*‖_A. Every run "
            "has data of its own; shares have Wilson's 95 % intervals."
        ),
        Items([_setting(one) for one in found.runs]),
        TextTable.of(COVERAGE, coverage),
        Text("*Enough*: the share of ρ_t that holds in 1 − δ of the runs."),
        TextTable(REJECTION, [_rejection_texts(row) for row in coverage]),
        Text(
            "The first and the last column are computed from the constants, the measured one is "
            "the first round t ≥ 2 that rejects a row. The bound *says something* where it is "
            "below the loss of accepting every row."
        ),
        TextTable.of(BOUND, bound),
        Picture("Widths and losses beside what the theory says", "coverage.png"),
    ]
    return Page("Algorithm 2 with its constants", blocks)


def _setting(one: Coverage) -> str:
    cell, m = one.result.cell, theory_of(one.result.cell)
    K = one.result.outcome.summary["n_initial"]
    return (
        f"{one.link} link: d = {cell.dataset['d']}, K = {K}, "
        f"N = {m.batch_size}, B = {m.feature_bound:g}, M = {m.coef_bound:g}, "
        f"φ = {m.noise_scale:g}, λ₀ = {m.min_eigenvalue:g}, δ = {m.failure_probability:g}, "
        f"c = {cell.cutoff.value:g}, ‖β*‖ = {cell.dataset['coef_norm']:g}, "
        f"T = {len(one.runs[0].rho):,} rounds followed"
    )


def _rejection_texts(row: dict[str, Any]) -> list[str]:
    measured = row["rejects_measured"]
    known = "out of reach" if np.isnan(measured) else f"{measured:,.0f}"
    return [row["link"], large(row["rejects_from"]), known, large(row["bound_says_from"])]


def large(value: float) -> str:
    """Return a large number with two digits: 2.8·10⁹."""
    if not np.isfinite(value):
        return "∞"
    digits, power = f"{value:.1e}".split("e")
    return f"{digits}·10{str(int(power)).translate(str.maketrans('0123456789', '⁰¹²³⁴⁵⁶⁷⁸⁹'))}"

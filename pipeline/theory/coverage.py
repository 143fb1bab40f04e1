"""Algorithm 2 with its constants: do its confidence widths hold, and how wide are they.

Three questions: in which share of runs the confidence statement holds in every round t ≥ 2; how
much smaller a width would have done; and how R_T compares with the bound of Theorem 2.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pipeline.cells.cell import Cell
from pipeline.cells.problem import problem_of
from pipeline.cells.read import places_of
from pipeline.data.sources import Settings
from pipeline.paper.estimates import ends, wilson_interval
from pipeline.sweeps.plan import plan
from pipeline.theory import algorithm2
from pipeline.theory.algorithm2 import Followed, follow, setting_of, theory_of
from pipeline.theory.driver import Measured, Result, lines, page_of, results_of
from pipeline.view.figure import sheet
from pipeline.view.page import Items, Page, Picture, TextTable
from pipeline.view.style import look

EXPERIMENTS = THEORY, TUNED = ("confidence_theory", "confidence")
OPTIONS = {
    "runs": "seeds that are followed",
    "long": "rows in which the first rejection is looked for",
    "sizes": "rows of the cells",
}
LONGEST_REFIT = 10_200  # rows: beyond, a refit after every row takes hours
LONG_SEEDS = 3  # runs in which the first rejection is looked for
POINTS = 60
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
SAID = "{link}: the statement holds in {held} of {runs} runs; {enough:.2g} of its width would do"
RHO, NEEDED = "#000000", "#777777"  # no method's colours: they are no methods


def measure(options: argparse.Namespace) -> Measured[str]:
    """Follow seeded runs and run the cells."""
    theory, tuned = (_sweep(name, options) for name in (THEORY, TUNED))
    data = places_of(plan([f"experiment={THEORY}", *options.overrides])[0].values).data
    smallest = min(options.sizes)
    cells = [result.cell for result in theory if result.cell.dataset["n"] == smallest]
    every = [[follow(cell, data, seed) for seed in range(options.runs)] for cell in cells]
    pairs = list(zip(cells, every, strict=True))
    tables = {
        "coverage": pd.DataFrame([row_of(*pair, data, options.long) for pair in pairs]),
        "widths": pd.concat([widths_of(*pair) for pair in pairs], ignore_index=True),
        "bound": pd.DataFrame([bound_row(*pair, data) for pair in zip(theory, tuned, strict=True)]),
    }
    settings = [_setting(cell, data, runs) for cell, runs in pairs]
    return Measured(tables, settings, lines(SAID, tables["coverage"]))


def _sweep(experiment: str, options: argparse.Namespace) -> list[Result]:
    """Return the cells of all sizes and links, the long ones of the linear link only."""
    found, changes = [], options.overrides
    if experiment == TUNED:  # whose method has none of the constants
        changes = [change for change in changes if not change.startswith("method.")]
    for n in sorted(options.sizes):
        links = [] if n <= LONGEST_REFIT else ["link=linear"]
        found += results_of([experiment], [*changes, f"dataset.n={n}", *links])
    return found


def row_of(cell: Cell, runs: Sequence[Followed], data: Settings, long: int) -> dict[str, Any]:
    """Return the figures of a link; its first rejection is looked for where runs can be long."""
    method, problem = theory_of(cell), problem_of(cell, data)
    setting, n_initial = setting_of(cell, problem), len(problem.splits[0].initial)
    worst = np.array([run.worst for run in runs])
    held = int((worst <= 1.0).sum())
    everything = float(np.maximum(setting.cutoff - problem.truth, 0.0).mean())
    seeds = range(LONG_SEEDS if cell.link == "linear" else 0)
    first = [algorithm2.first_rejected(cell, data, long, seed) for seed in seeds]
    found, length = [t for t in first if t is not None], float(cell.dataset["coef_norm"])
    return {
        "link": cell.link,
        "runs": len(runs),
        "rounds": len(runs[0].rho),
        "delta": method.failure_probability,
        "held": held,
        "share": held / len(runs),
        **ends(wilson_interval(held, len(runs)), "share_"),
        "rho_last": float(runs[0].rho[-1]),
        "worst_median": float(np.median(worst)),
        "worst_max": float(worst.max()),
        "enough": float(np.quantile(worst, 1.0 - method.failure_probability, method="higher")),
        "accepted_share": float(np.mean([run.accepted for run in runs])),
        "rejects_from": algorithm2.first_rejection(method, setting, length, n_initial),
        "rejects_measured": float(np.median(found)) if found else np.nan,
        "bound_says_from": algorithm2.bound_says_something(
            method, setting, n_initial, everything * cell.setting.batch_size
        ),
    }


def widths_of(cell: Cell, runs: Sequence[Followed]) -> pd.DataFrame:
    """Return ρ_t and what it had to be, over runs, at some rounds t ≥ 2."""
    rho = runs[0].rho
    rounds = np.unique(np.geomspace(2, len(rho), POINTS).round().astype(int))
    part = np.array([run.needed[rounds - 1] for run in runs])
    return pd.DataFrame(
        {
            "link": cell.link,
            "round": rounds,
            "rho": rho[rounds - 1],
            "needed_median": np.median(part, axis=0),
            "needed_95": np.quantile(part, 0.95, axis=0),
            "needed_max": part.max(axis=0),
        }
    )


def bound_row(theory: Result, tuned: Result, data: Settings) -> dict[str, Any]:
    """Return R_T beside the bound of Theorem 2, and the tuned alpha of ours beside ρ_T."""
    cell, summary, ours = theory.cell, theory.outcome.summary, tuned.outcome.summary
    if (cell.link, cell.dataset) != (tuned.cell.link, tuned.cell.dataset):
        raise ValueError(f"{cell.link}: {THEORY} and {TUNED} are about different data")
    problem, method = problem_of(cell, data), theory_of(cell)
    setting, T = setting_of(cell, problem), int(summary["n_rounds"])
    bound = algorithm2.loss_bound(method, setting, T, int(summary["n_initial"]))
    rho = method.rho(T, setting)
    return {
        "link": cell.link,
        "rounds": T,
        "splits": summary["n_splits"],
        "loss": summary["loss"],
        "standard_error": summary["standard_error"],
        "bound": bound,
        "bound_over_loss": bound / summary["loss"],
        "accepted_share": summary["accepted_rate"],
        "rho": rho,
        "tuned_alpha": ours["alpha"],
        "tuned_over_rho": ours["alpha"] / rho,
        "ours_loss": ours["loss"],
        "ours_standard_error": ours["standard_error"],
    }


def figure(found: Measured[str]) -> Figure:
    """Return for each link ρ_t beside what it had to be, and R_T beside Theorem 2."""
    widths, bound = found.tables["widths"], found.tables["bound"]
    links = list(dict.fromkeys(widths["link"]))
    drawn, axes = sheet(len(links), 2, (9.6, 3.7 * len(links)))
    for axis in axes:
        axis.set(xscale="log", yscale="log")
    for link, left, right in zip(links, axes[::2], axes[1::2], strict=True):
        followed, losses = widths[widths["link"] == link], bound[bound["link"] == link]
        same_rounds = losses["rounds"] == followed["round"].max()  # alpha is tuned for each T anew
        _draw_widths(left, link, followed, losses[same_rounds].iloc[0])
        _draw_losses(right, link, losses)
    return drawn


def _draw_widths(axis: Axes, link: str, part: pd.DataFrame, losses: pd.Series[Any]) -> None:
    t = part["round"]
    axis.plot(t, part["rho"], color=RHO, linewidth=2.2, label="ρ_t of Algorithm 2")
    axis.plot(t, part["needed_max"], color=NEEDED, dashes=(1, 1), label="needed, worst run")
    axis.plot(t, part["needed_median"], color=NEEDED, linewidth=2.2, label="needed, median run")
    axis.fill_between(t, part["needed_median"], part["needed_95"], color=NEEDED, alpha=0.2,
                      linewidth=0, label="up to 95% of the runs")  # fmt: skip
    tuned = f"alpha of ours, tuned ({losses['tuned_alpha']:.2g})"
    axis.axhline(losses["tuned_alpha"], **look("ours").line, label=tuned)
    axis.set_title(f"{link} link, T = {losses['rounds']:,}")
    axis.set(xlabel="round t", ylabel="coefficient of sqrt(x'A⁻¹x)")
    axis.set_ylim(top=axis.get_ylim()[1] * 30)
    axis.legend(fontsize="small", ncols=2, loc="upper left")


def _draw_losses(axis: Axes, link: str, part: pd.DataFrame) -> None:
    T = part["rounds"]
    axis.plot(T, part["bound"], color=RHO, linewidth=2.2, marker="s", label="bound of Theorem 2")
    axis.plot(T, part["loss"], **look("ours_theory").line, marker="o",
              label="R_T with the constants")  # fmt: skip
    axis.plot(T, part["ours_loss"], **look("ours").line, marker="^",
              label="R_T of ours, alpha tuned")  # fmt: skip
    axis.set(title=f"{link} link", xlabel="T", ylabel="cumulative one-sided loss")
    axis.set_ylim(top=axis.get_ylim()[1] * 100)
    axis.legend(fontsize="small", loc="upper left")


def page(found: Measured[str]) -> Page:
    """Return the page."""
    coverage = found.tables["coverage"]
    return page_of(
        "Algorithm 2 with its constants",
        """The statement: for all x and all rounds t ≥ 2 (ρ₁ = 0), |μ(x'β*) − μ(x'β_t)| ≤
        ρ_t(δ)·sqrt(x'A⁻¹x), with probability 1 − δ at least. *needed* is the least ρ_t for which it
        holds for every x, L·‖β_t − β*‖_A. Every run has data of its own; shares have Wilson's 95 %
        intervals.""",
        Items(found.runs),
        TextTable.of(COVERAGE, coverage),
        "*Enough*: the share of ρ_t that holds in 1 − δ of the runs.",
        TextTable(REJECTION, [_rejection_texts(row) for row in coverage.to_dict("records")]),
        """The first and the last column are computed from the constants, the measured one is the
        first round t ≥ 2 that rejects a row. The bound *says something* where it is below the loss
        of accepting every row.""",
        TextTable.of(BOUND, found.tables["bound"]),
        Picture("Widths and losses beside what the theory says", "coverage.png"),
    )


def _setting(cell: Cell, data: Settings, runs: Sequence[Followed]) -> str:
    m, K = theory_of(cell), len(problem_of(cell, data).splits[0].initial)
    return (
        f"{cell.link} link: d = {cell.dataset['d']}, K = {K}, "
        f"N = {m.batch_size}, B = {m.feature_bound:g}, M = {m.coef_bound:g}, "
        f"φ = {m.noise_scale:g}, λ₀ = {m.min_eigenvalue:g}, δ = {m.failure_probability:g}, "
        f"c = {cell.cutoff.value:g}, ‖β*‖ = {cell.dataset['coef_norm']:g}, "
        f"T = {len(runs[0].rho):,} rounds followed"
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

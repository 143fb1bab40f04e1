"""Algorithm 3 beside Proposition 2: does d_t bound the distance to β*, who is decided wrongly.

The cells of experiment=sgd run the algorithm through the pipeline. What a cell does not keep, β_t
and d_t, is followed here: with the same settings, without noise, with noise below the accuracy α,
with the logistic link, and with −s_t above the mean.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pipeline.cells.cell import Cell
from pipeline.core.links import Linear, get_link
from pipeline.core.methods.sgd import Sgd
from pipeline.paper.estimates import mean_estimate
from pipeline.theory.algorithm3 import Case, Path, follow
from pipeline.theory.driver import Measured, Result, lines, page_of, results_of
from pipeline.view.figure import sheet
from pipeline.view.page import Page, Picture, TextTable
from pipeline.view.style import look

EXPERIMENTS = ("sgd", "sgd_high")
OPTIONS = {"runs": "seeds that are followed"}
POINTS = 120
# The logistic link is flatter: noise and accuracy are smaller, and the mean is projected.
LOGISTIC: dict[str, float] = {"accuracy": 0.03, "noise_bound": 0.1, "distance_slack": 8.0}
LOGISTIC_NAME = "logistic, B = {noise_bound:g} > α = {accuracy:g}".format(**LOGISTIC)
LOGISTIC_ZETA, RADIUS = 0.4, 4.0
# What the proposition claims and one decision for all rows are no methods: colours of no method.
BOUND, TRIVIAL = "#8B8000", "#000000"
DISTANCES = {
    "case": "{case}",
    "updates a run": "{updates:.0f}",
    "of them less than claimed": "{falls_short:.0%}",
    "d_t ≥ distance throughout": "{bounded} of {runs} runs",
    "d_t = 0 reached": "{zero} of {runs} runs",
    "in round (median)": "{zero_round:,.0f}",
    "last distance": "{distance:.2f}",
    "last d_t": "{bound:.2f}",
    "error where β stayed": "{largest_error:.2f}",
    "L/γ·(α + 2B)": "{error_bound:.2f}",
}
MISTAKES = {
    "case": "{case}",
    "cutoff": "{cutoff}",
    "accepted": "{accepted:.1%}",
    "decided wrongly": "{mistakes:.2%} ({mistakes_low:.2%} – {mistakes_high:.2%})",
    "second half": "{mistakes_late:.2%}",
    "accepting (rejecting) all": "{trivial:.2%}",
    "ρ of Proposition 2": "{error_probability:.2f}",
}
CELLS = {
    "cutoff": "{cutoff}",
    "s_t": "{s_t}",
    "T": "{rounds:,}",
    "R_T": "{loss:,.0f} ± {standard_error:,.0f}",
    "accepted": "{accepted:.1%}",
    "decided wrongly": "{mistakes:.2%}",
}
SAID = (
    "{case}: d_t bounds the distance in {bounded} of {runs} runs, {mistakes:.2%} decided wrongly "
    "(bound {error_probability:.2f})"
)
LEAST = 5e-3  # share of mistakes at which the last panel begins


def measure(options: argparse.Namespace) -> Measured[Case]:
    """Run the cells and follow seeded runs."""
    results = results_of(EXPERIMENTS, options.overrides)
    cases = cases_of(results[0].cell)
    paths = {case.name: [follow(case, seed) for seed in range(options.runs)] for case in cases}
    tables = {
        "sgd": pd.DataFrame([row_of(case, paths[case.name]) for case in cases]),
        "sgd_paths": pd.concat([points_of(case, paths[case.name]) for case in cases]),
        "sgd_cells": pd.DataFrame([cell_row(result) for result in results]),
    }
    return Measured(tables, cases, lines(SAID, tables["sgd"]))


def cases_of(cell: Cell) -> list[Case]:
    """Return what is followed: the cell's own setting and four variations."""
    method, data = cell.method, cell.dataset
    if not isinstance(method, Sgd) or cell.cutoff.value is None:
        raise ValueError(f"experiment={EXPERIMENTS[0]}: set method=sgd and a cutoff_value")
    n = int(data["n"]) - int(cell.setting.initial["count"])
    B, alpha = float(data["noise"]), method.accuracy
    own = Case(
        f"noise B = {B:g} > α = {alpha:g}" if alpha < B else f"noise B = {B:g}",
        *(Linear(), method, abs(cell.cutoff.value), int(data["d"]), n, B),
        float(data["coef_norm"]),
    )
    flat = replace(own, link=get_link("logistic"), zeta=LOGISTIC_ZETA)
    logistic = replace(method, radius=RADIUS, **LOGISTIC)  # type: ignore[arg-type]
    high = replace(method, high_cutoff=True)
    return [
        _with_noise(own, "no noise", method, 0.0),
        _with_noise(own, f"noise B = {alpha / 2:g} < α = {alpha:g}", method, alpha / 2),
        own,
        _with_noise(flat, LOGISTIC_NAME, logistic, LOGISTIC["noise_bound"]),
        replace(own, name=f"cutoff above, −s_t, B = {B:g}", method=high),
    ]


def _with_noise(case: Case, name: str, method: Sgd, noise: float) -> Case:
    return replace(case, name=name, method=replace(method, noise_bound=noise), noise=noise)


def row_of(case: Case, paths: Sequence[Path]) -> dict[str, Any]:
    """Return the figures of a case."""
    half = case.n // 2
    wrong = np.array([path.mistakes.mean() for path in paths])
    short = [path.falls_short for path in paths]
    zero = [path.rounds[path.bounds[1:] == 0.0][0] for path in paths if path.bounds[-1] == 0.0]
    above = np.mean([path.above.mean() for path in paths])
    return {
        "case": case.name,
        "runs": len(paths),
        "rounds": case.n,
        "cutoff": case.cutoff,
        "updates": float(np.mean([len(path.rounds) for path in paths])),
        "falls_short": float(np.concatenate(short).mean()) if sum(map(len, short)) else np.nan,
        "bounded": sum(bool((path.distances <= path.bounds + 1e-12).all()) for path in paths),
        "zero": len(zero),
        "zero_round": float(np.median(zero)) if zero else np.nan,
        "distance": float(np.mean([path.distances[-1] for path in paths])),
        "bound": float(np.mean([path.bounds[-1] for path in paths])),
        "largest_error": max(path.largest_error for path in paths),
        "error_bound": case.accuracy,
        "accepted": float(np.mean([path.accepted.mean() for path in paths])),
        **mean_estimate(wrong, "sgd").columns("mistakes"),
        "mistakes_late": float(np.mean([path.mistakes[half:].mean() for path in paths])),
        "trivial": float(above if case.method.high_cutoff else 1.0 - above),
        "error_probability": case.error_probability,
    }


def points_of(case: Case, paths: Sequence[Path]) -> pd.DataFrame:
    """Return ‖β_t − β*‖ and d_t over runs, at some rounds."""
    t = np.unique(np.geomspace(1, case.n, POINTS).round().astype(np.int64))
    columns: dict[str, Any] = {"case": case.name, "round": t}
    for name in ("distance", "bound"):
        found = np.array([path.at(t, getattr(path, f"{name}s")) for path in paths])
        columns[name] = np.median(found, axis=0)
        columns[f"{name}_low"], columns[f"{name}_high"] = np.quantile(found, (0.1, 0.9), axis=0)
    return pd.DataFrame(columns)


def cell_row(result: Result) -> dict[str, Any]:
    """Return what a cell of the pipeline found."""
    cell, found = result.cell, result.outcome
    assert isinstance(cell.method, Sgd)
    wrong = (found.losses["missed"] + found.losses["wasted"]).sum() / found.losses["rows"].sum()
    return {
        "cutoff": cell.cutoff.value,
        "s_t": "−" if cell.method.high_cutoff else "+",
        "rounds": found.summary["n_rounds"],
        "splits": found.summary["n_splits"],
        "loss": found.summary["loss"],
        "standard_error": found.summary["standard_error"],
        "accepted": found.summary["accepted_rate"],
        "mistakes": float(wrong),
    }


def figure(found: Measured[Case]) -> Figure:
    """Return the figure; its last panel compares the mistakes with their bounds."""
    table, paths = found.tables["sgd"], found.tables["sgd_paths"]
    drawn, axes = sheet(-(-(len(table) + 1) // 3), 3, (13.0, 7.2))
    for axis, case in zip(axes, table["case"], strict=False):
        _draw_distance(axis, case, paths[paths["case"] == case])
    axes[0].legend(fontsize="small", loc="center right")
    _draw_mistakes(axes[len(table)], table)
    for axis in axes[len(table) + 1 :]:
        axis.set_axis_off()
    return drawn


def _draw_distance(axis: Axes, case: str, part: pd.DataFrame) -> None:
    t = part["round"]
    looks: dict[str, tuple[str, dict[str, Any]]] = {
        "distance": ("‖β_t − β*‖ of SGD", {**look("sgd").line, "linewidth": 2.0, "zorder": 3}),
        "bound": ("d_t, which should bound it", {"color": BOUND, "linewidth": 2.0}),
    }
    for name, (label, style) in looks.items():
        axis.plot(t, part[name], label=label, **style)
        axis.fill_between(
            t, part[f"{name}_low"], part[f"{name}_high"], color=style["color"], alpha=0.15,
            linewidth=0,
        )  # fmt: skip
    axis.set(title=case, xscale="log", xlabel="round t", ylabel="distance to β*")
    axis.set_ylim(-0.03, max(1.1, part["distance_high"].max()))


def _draw_mistakes(axis: Axes, table: pd.DataFrame) -> None:
    rows = np.arange(len(table))[::-1]
    axis.plot(table["mistakes"], rows, "o", color=look("sgd").colour, label="by SGD")
    axis.plot(
        table["trivial"], rows, "x", color=TRIVIAL, markersize=9, label="by one decision for all"
    )
    axis.plot(table["error_probability"], rows, "|", color=BOUND, markersize=14, markeredgewidth=2,
              label="ρ of Proposition 2")  # fmt: skip
    for row, case in zip(rows, table["case"], strict=True):
        axis.annotate(case, (LEAST, row + 0.22), (4, 0), textcoords="offset points",
                      fontsize="small")  # fmt: skip
    axis.set(xscale="log", xlim=(LEAST, 1.0), ylim=(-0.6, len(table) + 0.9), yticks=[])
    axis.set(title="rows decided wrongly", xlabel="share of the rows", ylabel="case")
    axis.legend(fontsize="small", loc="upper left", ncols=2)


def page(found: Measured[Case]) -> Page:
    """Return the page."""
    rows, cells = (_shown(found.tables[name]) for name in ("sgd", "sgd_cells"))
    case = found.runs[0]
    return page_of(
        "Algorithm 3: SGD under partial feedback",
        f"""x ~ N(0, I), d = {case.d}, ‖β*‖ = d₀ = {case.coef_norm:g}, noise uniform on ±B,
        T = {case.n:,}, {rows["runs"].iloc[0]} runs with data of their own.""",
        """**The distance.** Proposition 2: an update brings E‖β_t − β*‖² down by α²/(‖x‖²L²) at
        least, so that d_t bounds the distance; where β stays, μ is right to L/γ·(α + 2B).""",
        TextTable.of(DISTANCES, rows),
        """**The mistakes.** Proposition 2: a row is decided wrongly with probability ρ at most.
        Accepting every row (above the mean, rejecting every row) keeps that bound as well.""",
        TextTable.of(MISTAKES, rows),
        "**Through the pipeline**, the cells of `experiment=sgd` and `sgd_high`:",
        TextTable.of(CELLS, cells),
        Picture("Distance to β* and mistakes of Algorithm 3", "sgd.png"),
    )


def _shown(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table, a cutoff with a minus sign rather than a hyphen."""
    return table.assign(cutoff=[f"{c:g}".replace("-", "−") for c in table["cutoff"]])

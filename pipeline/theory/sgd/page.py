"""Algorithm 3 beside Proposition 2: the page and the figure."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pipeline.theory.experiment import Measured
from pipeline.theory.sgd.path import Case
from pipeline.view.figure import bare, sheet
from pipeline.view.page import Block, Page, Picture, Text, TextTable
from pipeline.view.style import look

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
LEAST = 5e-3  # share of mistakes at which the last panel begins


def figure(found: Measured[Case]) -> Figure:
    """Return the figure; its last panel compares the mistakes with their bounds."""
    table, paths = found.tables["sgd"], found.tables["sgd_paths"]
    columns = 3
    drawn, axes = sheet(-(-(len(table) + 1) // columns), columns, (13.0, 7.2))
    for axis, case in zip(axes, table["case"], strict=False):
        _draw_distance(axis, paths[paths["case"] == case])
        axis.set_title(case, fontsize="medium")
    axes[0].legend(frameon=False, fontsize="small", loc="center right")
    _draw_mistakes(axes[len(table)], table)
    for axis in axes[len(table) + 1 :]:
        axis.set_axis_off()
    return drawn


def _draw_distance(axis: Axes, part: pd.DataFrame) -> None:
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
    axis.set(xscale="log", xlabel="round t", ylabel="distance to β*")
    axis.set_ylim(-0.03, max(1.1, part["distance_high"].max()))
    bare(axis)


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
    axis.set(xlabel="share of the rows", ylabel="case")
    axis.set_title("rows decided wrongly", fontsize="medium")
    axis.legend(frameon=False, fontsize="small", loc="upper left", ncols=2)
    bare(axis)


def page(found: Measured[Case]) -> Page:
    """Return the page."""
    rows, cells = (_records(found.tables[name]) for name in ("sgd", "sgd_cells"))
    case = found.runs[0]
    blocks: list[Block] = [
        Text(
            f"x ~ N(0, I), d = {case.d}, ‖β*‖ = d₀ = {case.coef_norm:g}, noise uniform on ±B, "
            f"T = {case.n:,}, {rows[0]['runs']} runs with data of their own."
        ),
        Text(
            "**The distance.** Proposition 2: an update brings E‖β_t − β*‖² down by α²/(‖x‖²L²) "
            "at least, so that d_t bounds the distance; where β stays, μ is right to L/γ·(α + 2B)."
        ),
        TextTable.of(DISTANCES, rows),
        Text(
            "**The mistakes.** Proposition 2: a row is decided wrongly with probability ρ at most. "
            "Accepting every row (above the mean, rejecting every row) keeps that bound as well."
        ),
        TextTable.of(MISTAKES, rows),
        Text("**Through the pipeline**, the cells of `experiment=sgd` and `sgd_high`:"),
        TextTable.of(CELLS, cells),
        Picture("Distance to β* and mistakes of Algorithm 3", "sgd.png"),
    ]
    return Page("Algorithm 3: SGD under partial feedback", blocks)


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table, a cutoff with a minus sign rather than a hyphen."""
    texts = [f"{cutoff:g}".replace("-", "−") for cutoff in table["cutoff"]]
    return list(table.assign(cutoff=texts).to_dict("records"))

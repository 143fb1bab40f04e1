"""A small picture of one curve, drawn for every job: MLflow shows it beside the figures.

The paper's figures take their time to find the best layout; this one has a fixed layout and costs
half as much.
"""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure

from pipeline.results.average import AverageLoss
from pipeline.view.curves import ROUND, draw_lines


def draw_curve(average: AverageLoss, method: str, title: str, path: Path) -> None:
    """Draw R_t/t with a band of one standard error.

    Args:
        average: what to draw.
        method: gives the line its look.
        title: of the picture.
        path: to write to; the ending says in which format.
    """
    figure = Figure(figsize=(4.6, 3.1))
    axis = figure.add_axes((0.16, 0.15, 0.8, 0.75))
    draw_lines(axis, {method: average})
    axis.set_title(title, y=1.02)  # without a place matplotlib looks for one, for long
    axis.set(xlabel=ROUND, ylabel="average loss R(t)/t")  # plain: a formula costs a fifth more
    figure.savefig(path, dpi=100)

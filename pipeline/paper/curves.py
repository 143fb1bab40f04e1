"""Average one-sided loss R_t/t against t: one panel a setting, one line a method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from pipeline.paper.sheets import bare, count_rounds, few_ticks, legend, note_missing, save, sheet
from pipeline.paper.style import look
from pipeline.results.average import AverageLoss

EARLY = 0.05  # share of the rounds that may leave the panel at its top
BAND = 0.07  # opacity: seven bands lie over each other
ROUND, AVERAGE_LOSS = "round t", "average loss $R_t/t$"


@dataclass(frozen=True)
class Panel:
    """One setting: the average loss of each method."""

    title: str
    lines: Mapping[str, AverageLoss]


def draw(panels: Sequence[Panel], path: Path, columns: int = 2, title: str = "") -> None:
    """Draw the panels and write them to ``path``."""
    rows = -(-len(panels) // columns)
    figure, axes = sheet(rows, columns, (4.6 * columns, 3.1 * rows + 0.9))
    for axis, panel in zip(axes, panels, strict=False):
        draw_lines(axis, panel.lines)
        axis.set_title(panel.title, fontsize="medium")
        axis.set_ylabel(AVERAGE_LOSS)
    for axis in axes[len(panels) :]:
        axis.set_visible(False)
    for axis in axes[: len(panels)][-columns:]:
        axis.set_xlabel(ROUND)
    legend(figure, dict.fromkeys(method for panel in panels for method in panel.lines))
    if title:
        figure.suptitle(title)
    save(figure, path)


def draw_lines(axis: Axes, lines: Mapping[str, AverageLoss], missing: Sequence[str] = ()) -> None:
    """Draw a setting: the mean over splits with a band of one standard error.

    Args:
        axis: to draw in.
        lines: by method.
        missing: methods that should have a line and have none.
    """
    for method, line in lines.items():
        shown = look(method)
        axis.plot(line.rounds, line.mean, **shown.line)
        band = (line.mean - line.error, line.mean + line.error)
        axis.fill_between(line.rounds, *band, color=shown.colour, alpha=BAND, linewidth=0)
    last = max((line.rounds[-1] for line in lines.values()), default=1)
    highest = max((_late(line).max() for line in lines.values()), default=0.0)
    axis.set_xlim(0, last)
    axis.set_ylim(0, 1.08 * highest if highest > 0 else 1.0)
    count_rounds(axis.xaxis)
    few_ticks(axis.yaxis, highest)
    bare(axis)
    note_missing(axis, missing)


def _late(line: AverageLoss) -> NDArray[np.float64]:
    """Return the mean after the first rounds, whose averages of few rows would set the scale."""
    late: NDArray[np.float64] = line.mean[line.rounds >= EARLY * line.rounds[-1]]
    return late

"""Average one-sided loss R_t/t against t: one panel a setting, one line a method."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from pipeline.results.average import AverageLoss
from pipeline.view.figure import bare, count_rounds, few_ticks, legend, save, sheet
from pipeline.view.style import look

EARLY = 0.1  # share of the rounds that may leave the panel: their averages are of few rows
BAND = 0.15  # opacity: one can be seen in print, seven over each other lie below all lines
ROUND, AVERAGE_LOSS = "round t", "average loss $R_t/t$"


class Panel(NamedTuple):
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


def draw_lines(axis: Axes, lines: Mapping[str, AverageLoss]) -> None:
    """Draw a setting: the mean over splits of each method, with a band of one standard error."""
    for method, line in lines.items():
        draw_line(axis, method, line.rounds, line.mean, line.error)
    last = max((line.rounds[-1] for line in lines.values()), default=1)
    low, high = _reach(lines.values())
    axis.set_xlim(0, last)
    axis.set_ylim(low, high)
    count_rounds(axis.xaxis)
    few_ticks(axis.yaxis, high)
    bare(axis)


def draw_line(axis: Axes, method: str, x: np.ndarray, y: np.ndarray, error: np.ndarray) -> None:
    """Draw a method's line, with a band of one standard error."""
    axis.plot(x, y, zorder=layer(method), **look(method).line)
    colour = look(method).colour
    axis.fill_between(x, y - error, y + error, color=colour, alpha=BAND, linewidth=0)


def layer(method: str) -> float:
    """Return how high a line lies: the more ink, the lower, so that coinciding lines all show.

    ``ours``, thick and solid, is a rim around the others; the gaps of a dash show what lies below.
    """
    shown = look(method)
    ink = shown.width * (sum(shown.dash[::2]) / sum(shown.dash) if shown.dash else 1.0)
    return Line2D.zorder + 1.0 / (1.0 + ink)


def _reach(lines: Iterable[AverageLoss]) -> tuple[float, float]:
    """Return limits that hold all late bands and use the panel: narrow bands can be seen."""
    ends: list[float] = []
    for line in lines:
        late = line.rounds >= EARLY * line.rounds[-1]
        error = np.nan_to_num(line.error[late])
        ends += [(line.mean[late] - error).min(), (line.mean[late] + error).max()]
    low, high = min(ends, default=0.0), max(ends, default=0.0)
    if high <= 0:
        return 0.0, 1.0
    room = 0.06 * (high - low) or 0.06 * high
    return max(low - room, 0.0), high + room

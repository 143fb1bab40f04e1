"""The panels of the paper's figures: their names, what is missing, the loss beside greedy's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter
from numpy.typing import NDArray

from pipeline.paper.by_setting import Setting
from pipeline.paper.published import BASELINE, METHODS
from pipeline.results.average import AverageLoss
from pipeline.view.curves import EARLY, layer
from pipeline.view.figure import bare, count_rounds, few_ticks
from pipeline.view.names import cutoff_name, dataset_name
from pipeline.view.style import look

A3 = (11.69, 16.54)  # inches, upright; scaled to A4 its letters are 7 points high
SETTLED = 0.2  # share of the rounds after which the ratios set the scale
LEAST_ROOM = 0.005  # on both sides of greedy


def name_panels(axes: Sequence[Axes], settings: Sequence[Setting]) -> None:
    """Name the settings of panels two in a row: of a sheet its rows and columns, else each panel.

    On a sheet a row is a dataset and a column a cutoff, which leaves the panels more room.
    """
    if len(settings) == 2:
        for axis, setting in zip(axes, settings, strict=True):
            axis.set_title(setting.name, fontsize="medium")
        return
    for axis, setting in zip(axes[:2], settings, strict=False):
        axis.set_title(f"cutoff {cutoff_name(setting.cutoff)}", fontsize="large")
    for axis, setting in zip(axes[::2], settings[::2], strict=True):
        axis.set_ylabel(dataset_name(setting.dataset), fontsize="large")


def name_axes(figure: Figure, axes: Sequence[Axes], x: str, y: str) -> None:
    """Name both axes once: x below the last panels, y beside all."""
    for axis in axes[-2:]:
        axis.set_xlabel(x)
    figure.align_ylabels(axes[::2])
    figure.supylabel(y, fontsize="medium")


def note_missing(axis: Axes, methods: Sequence[str]) -> None:
    """Say in the panel which methods have no results; nothing else where it is all of them."""
    if not methods:
        return
    none = len(methods) == len(METHODS)
    names = "all methods" if none else ", ".join(look(method).label for method in methods)
    if none:
        axis.set(xticks=[], yticks=[])
    place: dict[str, Any] = {"ha": "right", "va": "top", "fontsize": "small", "style": "italic"}
    box = {"facecolor": "white", "edgecolor": "#999999", "linewidth": 0.6, "alpha": 0.9}
    text = f"missing: {names}"
    axis.annotate(text, (0.98, 0.94), xycoords="axes fraction", bbox=box, **place)


def draw_ratios(axis: Axes, lines: Mapping[str, AverageLoss]) -> None:
    """Draw R_t / R_t of greedy − 1, which tells lines apart that coincide in ``draw_lines``."""
    bare(axis)
    if BASELINE not in lines:  # nothing to divide by, as the note in the other panel says
        axis.set(xticks=[], yticks=[])
        return
    reach = [-LEAST_ROOM, LEAST_ROOM]
    for method, line in lines.items():
        rounds, ratio = _ratio(line, lines[BASELINE])
        axis.plot(rounds, ratio, zorder=layer(method), **look(method).line)
        settled = ratio[rounds >= SETTLED * rounds[-1]]
        reach += settled[np.isfinite(settled)].tolist()
    room = 0.08 * (max(reach) - min(reach))
    axis.set_xlim(0, max(line.rounds[-1] for line in lines.values()))
    axis.set_ylim(min(reach) - room, max(reach) + room)
    count_rounds(axis.xaxis)
    few_ticks(axis.yaxis, 0.0)
    axis.yaxis.set_major_formatter(FuncFormatter(_percent))


def _ratio(line: AverageLoss, greedy: AverageLoss) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Return late rounds and R_t / R_t of greedy − 1; NaN where greedy has lost nothing yet."""
    late = line.rounds >= EARLY * line.rounds[-1]
    base = np.interp(line.rounds[late], greedy.rounds, greedy.mean)
    return line.rounds[late], line.mean[late] / np.where(base > 0, base, np.nan) - 1.0


def _percent(share: float, _: object) -> str:
    return f"{100 * share:.3g}%".replace("-", "−")

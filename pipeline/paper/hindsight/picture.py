"""What is left of each method's advantage over greedy when alpha is tuned on other splits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, PercentFormatter

from pipeline.paper.figures import A3
from pipeline.paper.published import BASELINE, LINKS, METHODS, in_text
from pipeline.view.figure import bare
from pipeline.view.style import look

RIVALS = tuple(method for method in METHODS if method != BASELINE)
# Where both ways choose the same alpha the dot lies in the ring.
DOT: dict[str, Any] = {"marker": "o", "markersize": 4, "linestyle": "none"}
RING: dict[str, Any] = {**DOT, "markersize": 8, "markerfacecolor": "white"}
BAR: dict[str, Any] = {"linewidth": 0.9, "marker": "|", "markersize": 4}
# At the frame, where an interval goes on beyond it.
BEYOND: dict[str, Any] = {"markersize": 5, "linestyle": "none", "clip_on": False, "zorder": 4}
NOTE: dict[str, Any] = {"fontsize": "x-small", "style": "italic", "va": "center"}
HIDDEN = 0.02  # share of the intervals' ends that may lie beyond the panels on each side


def hindsight_figure(cells: pd.DataFrame) -> Figure:
    """Return a row of panels for each link, a panel for each method, a line for each setting.

    Args:
        cells: of :func:`both_ways`, which has all settings of Tables 1 and 2, in their order.
    """
    figure = Figure(figsize=A3[::-1], layout="constrained")
    panels = figure.subplots(len(LINKS), len(RIVALS), sharey="row", sharex="row")
    for row, link in zip(panels, LINKS, strict=True):
        settings = in_text(link)
        here = cells[cells["link"] == link]
        _limit(row[0], here[here["method"] != BASELINE])
        for axis, method in zip(row, RIVALS, strict=True):
            _draw_panel(axis, here[here["method"] == method])
            axis.set_title(look(method).label, fontsize="medium")
        row[0].set_yticks(range(len(settings)), [setting.name for setting in settings])
        row[0].set_ylim(len(settings) - 0.5, -0.5)
        row[0].set_ylabel(f"{link} link", fontsize="large")
    for axis in panels[-1]:
        axis.set_xlabel("advantage over greedy")
    title = "1 − loss / loss of greedy: alpha tuned in hindsight and held out"
    figure.suptitle(f"Advantage over greedy, {title}", fontsize="large")
    looks: dict[str, dict[str, Any]] = {
        "in hindsight": RING,
        "held out": DOT,
        "what hindsight was worth": {"linewidth": 2.4},
        "95% interval of held out": BAR,
        "it goes on beyond the frame": {"marker": ">", **BEYOND},
        look(BASELINE).label: look(BASELINE).line,
    }
    handles = [Line2D([], [], **{"color": "#444444", "label": k, **v}) for k, v in looks.items()]
    figure.legend(handles=handles, loc="outside lower center", ncols=6, frameon=False)
    return figure


def _draw_panel(axis: Axes, cells: pd.DataFrame) -> None:
    bare(axis)
    axis.axvline(0, **look(BASELINE).line)
    for place, cell in enumerate(cells.to_dict("records")):
        if cell["state"] == "done":
            _draw_cell(axis, place, cell)
        else:
            axis.text(0, place, " missing", **NOTE)
    for place in range(2, len(cells), 2):  # a dataset has two cutoffs
        axis.axhline(place - 0.5, color="#BBBBBB", linewidth=0.5)
    axis.xaxis.set_major_locator(MaxNLocator(nbins=4))
    axis.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))


def _draw_cell(axis: Axes, place: int, cell: dict[str, Any]) -> None:
    """Draw a ring for hindsight, a line to the dot of held out, and the dot's interval.

    An arrow head at the frame says that the interval goes on beyond it.
    """
    colour = look(cell["method"]).colour
    before, after = cell["advantage_hindsight"], cell["advantage_held_out"]
    ends = [cell["advantage_held_out_low"], cell["advantage_held_out_high"]]
    axis.plot(ends, [place, place], color=colour, **BAR)
    axis.plot([before, after], [place, place], color=colour, linewidth=2.4)
    axis.plot(before, place, color=colour, **RING)
    axis.plot(after, place, color=colour, **DOT)
    low, high = axis.get_xlim()
    if ends[0] < low:
        axis.plot(low, place, color=colour, marker="<", **BEYOND)
    if ends[1] > high:
        axis.plot(high, place, color=colour, marker=">", **BEYOND)


def _limit(axis: Axes, cells: pd.DataFrame) -> None:
    """Show all dots and nearly all intervals: one that is ten times wider would hide the rest."""
    done = cells[cells["state"] == "done"]
    dots = done[["advantage_hindsight", "advantage_held_out"]].to_numpy(np.float64)
    ends = done[["advantage_held_out_low", "advantage_held_out_high"]].to_numpy(np.float64)
    dots, ends = dots[np.isfinite(dots)], ends[np.isfinite(ends)]
    if not len(dots) or not len(ends):
        axis.set_xlim(-1, 1)
        return
    low = min(float(dots.min()), float(np.quantile(ends, HIDDEN)), 0.0)
    high = max(float(dots.max()), float(np.quantile(ends, 1 - HIDDEN)), 0.01)
    margin = 0.05 * (high - low)
    for end in np.sort(ends):  # no interval ends so near the frame that it seems cut
        high = end if high < end < high + margin else high
    for end in np.sort(ends)[::-1]:
        low = end if low - margin < end < low else low
    axis.set_xlim(low - margin, high + margin)

"""Loss against alpha: what tuning buys each method over greedy."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MultipleLocator

from pipeline.paper.by_setting import Setting, absent, in_text, present
from pipeline.paper.collection import Collection
from pipeline.paper.figures.panels import A3, name_axes, name_panels, note_missing
from pipeline.paper.published import BASELINE, LINKS, METHODS
from pipeline.paper.statistics.alphas import REPORTED, Grid, Relative, grids, relative
from pipeline.view.curves import BAND, layer
from pipeline.view.figure import bare, few_ticks, legend, save_all, sheet
from pipeline.view.style import look

DOT: dict[str, Any] = {"marker": "o", "markersize": 6, "markeredgecolor": "black"}
LEAST_ROOM, ROOM = 0.05, 0.6  # above 1: at least so much, and so much of what lies below 1


def draw_alphas(collection: Collection, folder: Path) -> list[Path]:
    """Draw a sheet for each link from the results of one protocol; return the files."""
    found = grids(collection.losses)
    return [
        path
        for link in LINKS
        for path in save_all(alpha_sheet(found, link), folder, f"alpha_{link}")
    ]


def alpha_sheet(found: Mapping[Setting, Mapping[str, Grid]], link: str) -> Figure:
    """Return ten rows, one a dataset, of two panels, one a cutoff."""
    settings = [setting for setting in in_text() if setting.link == link]
    figure, axes = sheet(len(settings) // 2, 2, A3)
    shown: dict[str, None] = dict.fromkeys(METHODS)
    for axis, setting in zip(axes, settings, strict=True):
        whole = {m: g for m, g in found.get(setting, {}).items() if g.has(REPORTED)}
        shown |= dict.fromkeys(present(whole))
        _draw_panel(axis, whole)
    name_panels(axes, settings)
    name_axes(figure, axes, "alpha", "loss $R_T$ divided by that of greedy")
    figure.suptitle(
        f"Loss against alpha, {link} link; a line that leaves its panel is worse than greedy",
        fontsize="large",
    )
    tuned = Line2D([], [], linestyle="none", color="#BBBBBB", label="tuned alpha", **DOT)
    legend(figure, shown, tuned)
    return figure


def _draw_panel(axis: Axes, whole: Mapping[str, Grid]) -> None:
    bare(axis)
    axis.xaxis.set_major_locator(MultipleLocator(2))
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"$2^{{{value:g}}}$"))
    few_ticks(axis.yaxis, 1.0)
    note_missing(axis, absent(whole))
    if BASELINE not in whole:  # nothing to divide by, as the note says
        axis.set(xticks=[], yticks=[])
        return
    axis.axhline(1.0, zorder=layer(BASELINE), **look(BASELINE).line)
    lines = {
        method: relative(whole[method], whole[BASELINE])
        for method in present(whole)
        if (whole[method].alphas > 0).all()
    }
    for method, line in lines.items():
        _draw_line(axis, method, line)
    if lines:
        _limit(axis, list(lines.values()))


def _draw_line(axis: Axes, method: str, line: Relative) -> None:
    shown, tuned = look(method), line.tuned
    axis.plot(line.exponents, line.ratio, zorder=layer(method), **shown.line)
    band = (line.ratio - line.error, line.ratio + line.error)
    axis.fill_between(line.exponents, *band, color=shown.colour, alpha=BAND, linewidth=0)
    axis.plot(line.exponents[tuned], line.ratio[tuned], color=shown.colour, zorder=3, **DOT)


def _limit(axis: Axes, lines: list[Relative]) -> None:
    """Show the valleys: far above 1 a method is worse than greedy, by how much is no matter."""
    lowest = min(float(line.ratio.min()) for line in lines)
    below = max(1.0 - lowest, 0.0)
    top = 1.0 + max(LEAST_ROOM, ROOM * below)
    axis.set_ylim(min(lowest, 1.0) - max(0.2 * LEAST_ROOM, 0.12 * below), top)
    ends = [line.exponents[[0, -1]] for line in lines]
    axis.set_xlim(min(end[0] for end in ends) - 0.3, max(end[1] for end in ends) + 0.3)

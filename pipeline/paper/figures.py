"""The paper's figures: average one-sided loss against time, and loss against alpha.

Figures 1 and 2, and sheets of all datasets at cutoffs 50% and 70% for each link, which the appendix
leaves out. Where methods nearly coincide, a second panel, the loss relative to greedy, tells them
apart. The sheets of alpha show what tuning buys each method over greedy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MultipleLocator
from numpy.typing import NDArray

from pipeline.paper.by_setting import REPORTED, Grid, Lines, Relative, grids, lines_of, relative
from pipeline.paper.collection import Collection
from pipeline.paper.published import BASELINE, LINKS, METHODS, Setting, absent, in_text, present
from pipeline.results.average import AverageLoss
from pipeline.view.curves import AVERAGE_LOSS, EARLY, ROUND, draw_line, draw_lines, layer
from pipeline.view.figure import bare, count_rounds, few_ticks, legend, save_all, sheet
from pipeline.view.names import cutoff_name, dataset_name
from pipeline.view.style import look

A3 = (11.69, 16.54)  # inches, upright; scaled to A4 its letters are 7 points high
SETTLED = 0.2  # share of the rounds after which the ratios set the scale
LEAST_RATIO = 0.005  # that is shown on both sides of greedy
PANELS = (("adult", "0.5"), ("bank", "0.7"))  # of Figures 1 and 2
PAIR = (9.2, 6.4)  # inches, of two settings
RATIO = "$R_t$ relative to greedy"
DOT: dict[str, Any] = {"marker": "o", "markersize": 6, "markeredgecolor": "black"}
LEAST_ROOM, ROOM = 0.05, 0.6  # above 1: at least so much, and so much of what lies below 1


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
    reach = [-LEAST_RATIO, LEAST_RATIO]
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


def draw_figures(collection: Collection, folder: Path) -> None:
    """Draw the figure and the two sheets of each link from the results of one protocol."""
    lines, found = lines_of(collection.curves), grids(collection.losses)
    for number, link in enumerate(LINKS, start=1):
        pair = [Setting(link, *panel) for panel in PANELS]
        save_all(figure_of(lines, pair), folder, f"figure{number}")
        save_all(figure_of(lines, in_text(link)), folder, f"curves_{link}")
        save_all(alpha_sheet(found, link), folder, f"alpha_{link}")


def figure_of(lines: Lines, settings: Sequence[Setting]) -> Figure:
    """Return two panels for each setting, R_t/t and its ratio to greedy, two settings in a row."""
    figure, losses, ratios = _panels(settings)
    shown: dict[str, None] = dict.fromkeys(METHODS)
    for axis, beside, setting in zip(losses, ratios, settings, strict=True):
        found = lines.get(setting, {})
        shown |= dict.fromkeys(present(found))
        here = {name: found[name] for name in present(found)}
        draw_lines(axis, here)
        note_missing(axis, absent(found))
        draw_ratios(beside, here)
    title = f"Average one-sided loss, {settings[0].link} link: mean over splits, ± a standard error"
    figure.suptitle(title, fontsize="large")
    legend(figure, shown)
    return figure


def _panels(settings: Sequence[Setting]) -> tuple[Figure, list[Axes], list[Axes]]:
    """Return panels with their names: the ratios of a pair below, those of a sheet beside."""
    pair = len(settings) == 2
    figure, axes = sheet(2, 2, PAIR) if pair else sheet(len(settings) // 2, 4, A3)
    losses, ratios = (axes[:2], axes[2:]) if pair else (axes[::2], axes[1::2])
    name_panels(losses, settings)
    if pair:
        losses[0].set_ylabel(AVERAGE_LOSS)
        ratios[0].set_ylabel(RATIO)
        figure.align_ylabels(axes[::2])
    else:
        name_axes(figure, losses, ROUND, AVERAGE_LOSS)
        for axis in ratios[:2]:
            axis.set_title(RATIO, fontsize="medium")
    for axis in ratios[-2:]:
        axis.set_xlabel(ROUND)
    return figure, losses, ratios


def alpha_sheet(found: Mapping[Setting, Mapping[str, Grid]], link: str) -> Figure:
    """Return ten rows, one a dataset, of two panels, one a cutoff."""
    settings = in_text(link)
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
        draw_line(axis, method, line.exponents, line.ratio, line.error)
        dot = (line.exponents[line.tuned], line.ratio[line.tuned])
        axis.plot(*dot, color=look(method).colour, zorder=3, **DOT)
    if lines:
        _limit(axis, list(lines.values()))


def _limit(axis: Axes, lines: list[Relative]) -> None:
    """Show the valleys: far above 1 a method is worse than greedy, by how much is no matter."""
    lowest = min(float(line.ratio.min()) for line in lines)
    below = max(1.0 - lowest, 0.0)
    top = 1.0 + max(LEAST_ROOM, ROOM * below)
    axis.set_ylim(min(lowest, 1.0) - max(0.2 * LEAST_ROOM, 0.12 * below), top)
    ends = [line.exponents[[0, -1]] for line in lines]
    axis.set_xlim(min(end[0] for end in ends) - 0.3, max(end[1] for end in ends) + 0.3)

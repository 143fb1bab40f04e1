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

from pipeline.paper.by_setting import REPORTED, Grid, Lines, grids, lines_of, relative
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


def name_sheet(
    figure: Figure, axes: Sequence[Axes], settings: Sequence[Setting], x: str, y: str
) -> None:
    """Name the panels of a sheet, two settings in a row: a row is a dataset, a column a cutoff.

    Each name stands once, which leaves the panels more room: x below the last ones, y beside all.
    """
    for axis, setting in zip(axes[:2], settings, strict=False):
        axis.set_title(f"cutoff {cutoff_name(setting.cutoff)}", fontsize="large")
    for axis, setting in zip(axes[::2], settings[::2], strict=True):
        axis.set_ylabel(dataset_name(setting.dataset), fontsize="large")
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
    axis.annotate(f"missing: {names}", (0.98, 0.94), xycoords="axes fraction", bbox=box, **place)


def draw_ratios(axis: Axes, lines: Mapping[str, AverageLoss]) -> None:
    """Draw R_t / R_t of greedy − 1, which tells lines apart that coincide in ``draw_lines``.

    A line begins with its late rounds, where greedy has lost something.
    """
    bare(axis)
    if BASELINE not in lines:  # nothing to divide by, as the note in the other panel says
        axis.set(xticks=[], yticks=[])
        return
    reach = [-LEAST_RATIO, LEAST_RATIO]
    for method, line in lines.items():
        late = line.rounds >= EARLY * line.rounds[-1]
        rounds = line.rounds[late]
        greedy = np.interp(rounds, lines[BASELINE].rounds, lines[BASELINE].mean)
        ratio = line.mean[late] / np.where(greedy > 0, greedy, np.nan) - 1.0
        axis.plot(rounds, ratio, zorder=layer(method), **look(method).line)
        settled = ratio[rounds >= SETTLED * rounds[-1]]
        reach += settled[np.isfinite(settled)].tolist()
    room = 0.08 * (max(reach) - min(reach))
    axis.set_xlim(0, max(line.rounds[-1] for line in lines.values()))
    axis.set_ylim(min(reach) - room, max(reach) + room)
    count_rounds(axis.xaxis)
    few_ticks(axis.yaxis, 0.0)
    axis.yaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{100 * x:.3g}%".replace("-", "−")))


def draw_figures(collection: Collection, folder: Path) -> None:
    """Draw the figure and the two sheets of each link from the results of one protocol."""
    lines, found = lines_of(collection.curves), grids(collection.losses)
    for number, link in enumerate(LINKS, start=1):
        pair = [Setting(link, *panel) for panel in PANELS]
        save_all(figure_of(lines, pair), folder, f"figure{number}")
        save_all(figure_of(lines, in_text(link)), folder, f"curves_{link}")
        save_all(alpha_sheet(found, link), folder, f"alpha_{link}")


def figure_of(lines: Lines, settings: Sequence[Setting]) -> Figure:
    """Return two panels for each setting, R_t/t and its ratio to greedy, two settings in a row.

    The ratios of a pair are below, those of a sheet beside.
    """
    pair = len(settings) == 2
    figure, axes = sheet(2, 2, PAIR) if pair else sheet(len(settings) // 2, 4, A3)
    losses, ratios = (axes[:2], axes[2:]) if pair else (axes[::2], axes[1::2])
    if pair:
        for axis, setting in zip(losses, settings, strict=True):
            axis.set_title(setting.name, fontsize="medium")
        losses[0].set_ylabel(AVERAGE_LOSS)
        ratios[0].set_ylabel(RATIO)
        figure.align_ylabels(axes[::2])
    else:
        name_sheet(figure, losses, settings, ROUND, AVERAGE_LOSS)
        for axis in ratios[:2]:
            axis.set_title(RATIO, fontsize="medium")
    for axis in ratios[-2:]:
        axis.set_xlabel(ROUND)
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


def alpha_sheet(found: Mapping[Setting, Mapping[str, Grid]], link: str) -> Figure:
    """Return ten rows, one a dataset, of two panels, one a cutoff."""
    settings = in_text(link)
    figure, axes = sheet(len(settings) // 2, 2, A3)
    shown: dict[str, None] = dict.fromkeys(METHODS)
    for axis, setting in zip(axes, settings, strict=True):
        whole = {m: g for m, g in found.get(setting, {}).items() if g.has(REPORTED)}
        shown |= dict.fromkeys(present(whole))
        _draw_panel(axis, whole)
    name_sheet(figure, axes, settings, "alpha", "loss $R_T$ divided by that of greedy")
    title = f"Loss against alpha, {link} link; a line that leaves its panel is worse than greedy"
    figure.suptitle(title, fontsize="large")
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
    if lines:  # the valleys: far above 1 a method is worse than greedy, by how much is no matter
        lowest = min(float(line.ratio.min()) for line in lines.values())
        below = max(1.0 - lowest, 0.0)
        top = 1.0 + max(LEAST_ROOM, ROOM * below)
        axis.set_ylim(min(lowest, 1.0) - max(0.2 * LEAST_ROOM, 0.12 * below), top)
        exponents = np.concatenate([line.exponents for line in lines.values()])
        axis.set_xlim(exponents.min() - 0.3, exponents.max() + 0.3)

"""Average one-sided loss against time: Figures 1 and 2, and a sheet of all datasets for each link.

The appendix leaves these sheets out; they show every dataset at cutoffs 50% and 70%. Where methods
nearly coincide, a second panel, the loss relative to greedy, tells them apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pipeline.paper.by_setting import Lines, Setting, absent, in_text, lines_of, present
from pipeline.paper.collection import Collection
from pipeline.paper.figures.panels import A3, draw_ratios, name_axes, name_panels, note_missing
from pipeline.paper.published import LINKS, METHODS
from pipeline.view.curves import AVERAGE_LOSS, ROUND, draw_lines
from pipeline.view.figure import legend, save_all, sheet

PANELS = (("adult", "0.5"), ("bank", "0.7"))  # of Figures 1 and 2
PAIR = (9.2, 6.4)  # inches, of two settings
RATIO = "$R_t$ relative to greedy"


def draw_figures(collection: Collection, folder: Path) -> list[Path]:
    """Draw all four from the results of one protocol; return the files."""
    lines = lines_of(collection.curves)
    paths = []
    for number, link in enumerate(LINKS, start=1):
        pair = [Setting(link, *panel) for panel in PANELS]
        paths += save_all(figure_of(lines, pair), folder, f"figure{number}")
        every = [setting for setting in in_text() if setting.link == link]
        paths += save_all(figure_of(lines, every), folder, f"curves_{link}")
    return paths


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

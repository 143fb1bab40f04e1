"""Loss against alpha: what tuning buys each method over greedy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MultipleLocator
from numpy.typing import NDArray

from pipeline.paper.collection import Collection
from pipeline.paper.grids import REPORTED, Grid, Setting, absent, grids, in_text, present
from pipeline.paper.panels import A3, name_axes, name_panels, note_missing
from pipeline.paper.published import METHODS
from pipeline.paper.tables import LINKS
from pipeline.view.curves import BAND, layer
from pipeline.view.figure import bare, few_ticks, legend, save_all, sheet
from pipeline.view.style import look

FloatArray = NDArray[np.float64]
BASELINE = "greedy"
DOT: dict[str, Any] = {"marker": "o", "markersize": 6, "markeredgecolor": "black"}
LEAST_ROOM, ROOM = 0.05, 0.6  # above 1: at least so much, and so much of what lies below 1


@dataclass(frozen=True)
class Relative:
    """The loss of a method divided by that of greedy on the same splits.

    Attributes:
        exponents: log2 of its alphas.
        ratio: mean loss / mean loss of greedy, for each alpha.
        error: standard error of that ratio over splits.
        tuned: which alpha has the least mean loss.
    """

    exponents: FloatArray
    ratio: FloatArray
    error: FloatArray
    tuned: int


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


def relative(grid: Grid, greedy: Grid, splits: Sequence[int] = REPORTED) -> Relative:
    """Return the loss relative to greedy: r = mean(loss) / mean(greedy) for each alpha.

    Both were run on the same splits, so the error of r is that of a ratio of paired means:
    sd over splits of (loss − r·greedy), divided by sqrt(n)·mean(greedy); NaN of one split.
    """
    loss, base = grid.on(splits), greedy.on(splits)[0]
    ratio = loss.mean(axis=1) / base.mean()
    apart = loss - ratio[:, None] * base
    spread = apart.std(axis=1, ddof=1) if len(base) > 1 else np.full(len(ratio), np.nan)
    error = spread / (np.sqrt(len(base)) * base.mean())
    return Relative(np.log2(grid.alphas), ratio, error, grid.tuned(splits))


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

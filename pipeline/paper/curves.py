"""Average one-sided loss R_t/t against t: one panel a setting, one line a method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from pipeline.paper.style import look

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Panel:
    """One setting: for each method the curves R_t of its splits (splits × rounds)."""

    title: str
    rounds: NDArray[np.int64]
    curves: Mapping[str, FloatArray]


def draw(panels: Sequence[Panel], path: Path, columns: int = 2, title: str = "") -> None:
    """Draw the panels and write them to ``path``."""
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(4.6 * columns, 3.1 * rows + 0.9), layout="constrained")
    axes = np.atleast_1d(figure.subplots(rows, columns)).ravel()
    for axis, panel in zip(axes, panels, strict=False):
        _draw_panel(axis, panel)
    for axis in axes[len(panels) :]:
        axis.set_visible(False)
    for axis in axes[: len(panels)][-columns:]:
        axis.set_xlabel("round t")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    if title:
        figure.suptitle(title)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}")
    figure.savefig(partial, format=path.suffix.lstrip("."), dpi=160)
    partial.replace(path)


def _draw_panel(axis: Axes, panel: Panel) -> None:
    """Draw the mean over splits with a band of one standard error."""
    highest = 0.0
    late = panel.rounds >= 0.05 * panel.rounds[-1]
    for method, curves in panel.curves.items():
        shown, average = look(method), curves / panel.rounds
        mean, n = average.mean(axis=0), len(average)
        axis.plot(
            *(panel.rounds, mean),
            label=shown.label,
            color=shown.colour,
            linewidth=shown.width,
            dashes=shown.dash or (None, None),
        )
        if n > 1:
            error = average.std(axis=0, ddof=1) / np.sqrt(n)
            band = (mean - error, mean + error)
            axis.fill_between(panel.rounds, *band, color=shown.colour, alpha=0.06, linewidth=0)
        highest = max(highest, float(mean[late].max()))
    axis.set_title(panel.title, fontsize="medium")
    axis.set_xlim(0, panel.rounds[-1])
    axis.set_ylim(0, 1.08 * highest if highest > 0 else 1.0)
    axis.set_ylabel("average loss $R_t/t$")
    axis.grid(alpha=0.25, linewidth=0.6)
    axis.spines[["top", "right"]].set_visible(False)

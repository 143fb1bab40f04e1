"""What all figures share: the sheet, the ticks, the legend, the files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from pipeline.files import replacing
from pipeline.view.style import look

FORMATS = (".png", ".pdf")
DPI = 160
# Type 42: letters stay letters. No date: the same results give the same file.
_PDF_FONTS: dict[Any, Any] = {"pdf.fonttype": 42}
_METADATA: dict[str, Any] = {"pdf": {"CreationDate": None}}


def sheet(rows: int, columns: int, size: tuple[float, float]) -> tuple[Figure, list[Axes]]:
    """Return an empty figure and its axes, row by row."""
    figure = Figure(figsize=size, layout="constrained")
    return figure, list(np.atleast_1d(figure.subplots(rows, columns)).ravel())


def bare(axis: Axes) -> None:
    """Leave a light grid and two spines."""
    axis.grid(alpha=0.25, linewidth=0.6)
    axis.spines[["top", "right"]].set_visible(False)


def count_rounds(axis: Axis) -> None:
    """Tick whole numbers and write 10000 as 10,000."""
    axis.set_major_locator(MaxNLocator(nbins=4, integer=True))
    axis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))


def few_ticks(axis: Axis, highest: float) -> None:
    """Tick as often as a low panel has room for, with thousands separators where they help."""
    axis.set_major_locator(MaxNLocator(nbins=5, min_n_ticks=3))
    if highest >= 1000:
        axis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))


def legend(figure: Figure, methods: Iterable[str], *others: Line2D) -> None:
    """Name the methods below the panels, in lines long enough to tell their dashes apart."""
    handles = [Line2D([], [], **look(method).line, label=look(method).label) for method in methods]
    figure.legend(
        handles=[*handles, *others], loc="outside lower center", ncols=4, frameon=False,
        handlelength=4.2,
    )  # fmt: skip


def save(figure: Figure, path: Path) -> None:
    """Write a figure, whole or not at all; the ending says in which format."""
    kind = path.suffix.lstrip(".")
    with mpl.rc_context(_PDF_FONTS), replacing(path) as partial:
        figure.savefig(partial, format=kind, dpi=DPI, metadata=_METADATA.get(kind))


def save_all(figure: Figure, folder: Path, name: str) -> None:
    """Write a figure in all formats."""
    for ending in FORMATS:
        save(figure, folder / f"{name}{ending}")
        figure.set_layout_engine("none")  # the first time settles it

"""The verdict in one picture: z of all 1,400 published figures.

Lightness is the distance |z| and holds in greyscale. The sign is a colour and, where it matters,
a mark too: + where the paper's loss is larger than ours, − where it is smaller.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure

from pipeline.paper.comparison.agreement import pool, share_by_chance
from pipeline.paper.comparison.compare import AGREES_BELOW, DIFFERS_UP_TO, Comparison
from pipeline.paper.published import METHODS
from pipeline.view.figure import sheet
from pipeline.view.names import cutoff_name, dataset_name, method_name, or_dash

BOUND = 6.0  # the colours end here; what lies beyond is strongly different all the same
COLOURS = LinearSegmentedColormap.from_list(
    "paper_less_more", ["#7A2E00", "#D55E00", "#F7C9A8", "#FFFFFF", "#A9D3EC", "#0072B2", "#003A5C"]
)
SCALE = Normalize(-BOUND, BOUND)
DARK = 3.5  # |z| from which a colour is too dark for black letters
GREY = "#DDDDDD"


def verdict_figure(comparison: Comparison) -> Figure:
    """Return a panel for each link: datasets as rows, methods and cutoffs as columns."""
    links = list(dict.fromkeys(comparison.cells["link"]))
    figure, axes = sheet(len(links), 1, (15, 4.1 * len(links) + 1.4))
    for axis, link in zip(axes, links, strict=True):
        _draw_link(axis, link, comparison.of(link=link))
    bar = figure.colorbar(
        ScalarMappable(SCALE, COLOURS), ax=axes, location="bottom", aspect=70, shrink=0.75,
        extend="both", ticks=[-BOUND, -4, -2, 0, 2, 4, BOUND],
    )  # fmt: skip
    bar.set_label(
        "z = (paper − here) / sampling error     "
        "+ − differs (|z| ≥ 2)     bold: strongly (|z| > 4)     hatched: missing"
    )
    return figure


def _draw_link(axis: Axes, link: str, found: Comparison) -> None:
    """Draw z with a row a dataset, and for each method a column a cutoff; write what agrees."""
    datasets = list(dict.fromkeys(found.cells["dataset"]))
    cutoffs = list(dict.fromkeys(found.cells["cutoff"]))
    columns = pd.MultiIndex.from_product([METHODS, cutoffs])
    z_of = found.cells.pivot(index="dataset", columns=["method", "cutoff"], values="z")
    z = np.asarray(z_of.reindex(index=datasets, columns=columns), np.float64)
    axis.patch.set(hatch="////", edgecolor="#999999")  # seen where there is no z
    axis.imshow(z.clip(-BOUND, BOUND), cmap=COLOURS, norm=SCALE, aspect="auto")
    for row, column in np.argwhere(np.abs(z) >= AGREES_BELOW):
        distance = abs(z[row, column])
        axis.text(
            *(column, row, "+" if z[row, column] > 0 else "−"),
            ha="center",
            va="center",
            fontsize=13 if distance > DIFFERS_UP_TO else 9,
            fontweight="bold" if distance > DIFFERS_UP_TO else "normal",
            color="white" if distance > DARK else "black",
        )
    for edge in range(len(cutoffs), z.shape[1], len(cutoffs)):
        axis.axvline(edge - 0.5, color="black", linewidth=1.2)
    for edge in range(1, len(datasets)):
        axis.axhline(edge - 0.5, color=GREY, linewidth=0.5)
    axis.set_yticks(range(len(datasets)), [dataset_name(name) for name in datasets])
    shown = [cutoff_name(cutoff).rstrip("%") for cutoff in cutoffs] * len(METHODS)
    axis.set_xticks(range(z.shape[1]), shown, fontsize=6.5)
    axis.tick_params(length=0)
    axis.set_xlabel("cutoff, %", fontsize="small")
    for number, method in enumerate(METHODS):  # above its block
        label = f"{method_name(method)} {_share(found.of(method=method))}"
        axis.text((number + 0.5) * len(cutoffs) - 0.5, -0.75, label, ha="center", va="bottom")
    for number, dataset in enumerate(datasets):  # at the end of its row
        share = _share(found.of(dataset=dataset))
        axis.text(z.shape[1], number, share, va="center", fontsize="small")
    chance = or_dash(share_by_chance(found), "{:.0%}")
    axis.set_title(
        f"{link} link: {_share(found)} of the figures agree "
        f"({chance} expected if only the draw of the splits differed)",
        pad=24,
    )


def _share(found: Comparison) -> str:
    """Return the share of figures that agree."""
    return or_dash(pool(found)["share_agrees"], "{:.0%}")

"""How the true scores of a dataset are distributed, and where the cutoffs lie."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from pipeline.data.errors import DataError
from pipeline.data.whole_file import whole_file

FloatArray = NDArray[np.float64]
FEWEST_BINS, MOST_BINS = 30, 90
ENDINGS = (".png", ".pdf", ".svg", ".eps", ".jpg", ".jpeg", ".tiff", ".webp")
TAIL = 0.002  # share of rows beyond each end of the picture
LABEL_COLOURS = {0: "#56B4E9", 1: "#D55E00"}  # Okabe & Ito, as in all figures


@dataclass(frozen=True)
class Scores:
    """The true scores of a dataset, its labels, and the cutoff value of each quantile."""

    title: str
    axis: str
    truth: FloatArray
    y: FloatArray
    cutoffs: Mapping[float, float]
    own_cutoff: float | None = None


def draw_scores(scores: Scores, path: Path) -> None:
    """Draw the scores and write the picture to ``path``, whole or not at all."""
    check_picture(path)
    figure = scores_figure(scores)
    with whole_file(path, "name another file with --output") as partial:
        figure.savefig(partial, format=path.suffix.lstrip("."), dpi=160)


def check_picture(path: Path) -> None:
    """Raise where a path is a folder, or its ending is that of no picture."""
    if path.is_dir():
        raise DataError(f"{path} is a folder; name a picture in it: {path / 'scores.png'}")
    if path.suffix.lower() not in ENDINGS:
        raise DataError(f"{path} does not end as a picture does: {', '.join(ENDINGS)}")


def scores_figure(scores: Scores) -> Figure:
    """Return the histogram of the scores with the cutoffs."""
    figure = Figure(figsize=(8.6, 4.6), layout="constrained")
    axis = figure.subplots()
    low, high = _window(scores)
    _draw_histogram(axis, scores, np.linspace(low, high, _bins(len(scores.truth)) + 1).tolist())
    _draw_cutoffs(axis, scores, low, high)
    axis.set_xlim(low, high)
    axis.set_xlabel(f"{scores.axis}{_beyond(scores, low, high)}")
    axis.set_ylabel("rows")
    axis.spines[["top", "right"]].set_visible(False)
    figure.suptitle(f"{scores.title}\n", fontsize="medium")  # a line of space above the labels
    handles, labels = axis.get_legend_handles_labels()
    look = {"frameon": False, "fontsize": 8, "ncols": len(labels)}
    figure.legend(handles, labels, loc="outside lower center", **look)
    return figure


def _bins(rows: int) -> int:
    """Return fewer bars for fewer rows: 2·sqrt(rows), within limits."""
    return int(np.clip(2 * np.sqrt(rows), FEWEST_BINS, MOST_BINS))


def _beyond(scores: Scores, low: float, high: float) -> str:
    """Return a remark on rows that the picture does not show."""
    count = int(((scores.truth < low) | (scores.truth > high)).sum())
    if not count:
        return ""
    return f" ({count:,} {'row lies' if count == 1 else 'rows lie'} beyond the ends)"


def _window(scores: Scores) -> tuple[float, float]:
    """Return the ends of the picture: outliers are counted, not shown."""
    low = float(np.quantile(scores.truth, TAIL, method="higher"))
    high = float(np.quantile(scores.truth, 1 - TAIL, method="lower"))
    low, high = min(low, *scores.cutoffs.values()), max(high, *scores.cutoffs.values())
    margin = 0.02 * (high - low) or 1.0
    return low - margin, high + margin


def _draw_histogram(axis: Axes, scores: Scores, edges: list[float]) -> None:
    if not np.isin(scores.y, (0.0, 1.0)).all():
        axis.hist(scores.truth, edges, color=LABEL_COLOURS[0], label="all rows")
    else:
        parts = [scores.truth[scores.y == label] for label in (0, 1)]
        axis.hist(
            parts,
            edges,
            stacked=True,
            color=[LABEL_COLOURS[label] for label in (0, 1)],
            label=[f"label {label}: {len(part):,} rows" for label, part in enumerate(parts)],
        )


def _draw_cutoffs(axis: Axes, scores: Scores, low: float, high: float) -> None:
    """Mark the cutoffs, their labels above the picture and clear of each other."""
    top = axis.get_ylim()[1]
    axis.set_ylim(0, top)
    values = list(scores.cutoffs.values())
    places = _spread(np.array(values), 0.045 * (high - low), low, high)
    for quantile, value, place in zip(scores.cutoffs, values, places, strict=True):
        axis.plot([value, value], [0, top], color="#333333", linewidth=0.8, alpha=0.75)
        axis.annotate(
            f"{quantile:.0%}",
            (value, top),
            xytext=(place, 1.075 * top),
            ha="center",
            va="bottom",
            fontsize=8,
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": "#333333", "linewidth": 0.6, "alpha": 0.75},
        )
    axis.plot([], [], color="#333333", linewidth=0.8, label="cutoff, share of rows below")
    if scores.own_cutoff is not None:
        label = f"the dataset's own cutoff {scores.own_cutoff:g}"
        axis.axvline(scores.own_cutoff, color="#000000", linestyle=(0, (4, 2)), label=label)


def _spread(places: FloatArray, gap: float, low: float, high: float) -> FloatArray:
    """Return places at least ``gap`` apart, in order, as near to the wanted ones as that allows.

    With p_k = q_k + k·gap the q must not fall: their isotonic regression.
    """
    from sklearn.isotonic import isotonic_regression

    steps = gap * np.arange(len(places))
    bounds = {"y_min": low, "y_max": max(low, high - steps[-1])}
    spread: FloatArray = isotonic_regression(places - steps, **bounds) + steps
    return spread

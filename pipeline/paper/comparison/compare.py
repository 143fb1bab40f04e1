"""Each published figure beside ours: how far apart are they, given how far chance may part them?

    z = (paper − our mean) / (sd·sqrt(1/10 + 1/n))

with sd the standard deviation over our n splits under the tuned alpha; the paper's figures are
means of ten splits. Figures agree where |z| < 2, differ up to 4, strongly differ beyond.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from pipeline.paper.collection import Collection
from pipeline.paper.estimates import FloatArray
from pipeline.paper.published import CELL_KEY, DIGITS, METHODS, best_methods, published

PAPER_SPLITS = 10
AGREES, DIFFERS, STRONGLY = "agrees", "differs", "strongly differs"
MISSING, UNJUDGED = "missing", "unjudged"
JUDGED = (AGREES, DIFFERS, STRONGLY)
NO_SPREAD = 1e-12  # deviation / mean
AGREES_BELOW, DIFFERS_UP_TO = 2.0, 4.0  # bounds of |z|
CELL_COLUMNS = [
    *CELL_KEY, "state", "loss", "standard_deviation", "n_splits", "paper", "ratio", "z",
    "verdict",
]  # fmt: skip


class Comparison(NamedTuple):
    """Our figures beside the paper's, in the paper's order.

    Attributes:
        cells: a row for each of the 1,400 figures: loss (ours), standard_deviation, n_splits,
            paper, ratio = paper / loss, z and verdict.
        rows: a row for each of the 200 rows: whether all its cells are there, Spearman's rank
            correlation of the methods, the best methods of both sides, the paper's bold one and
            whether that is a misprint. The methods of one cell are separated by blanks.
    """

    cells: pd.DataFrame
    rows: pd.DataFrame

    def of(self, **labels: str | tuple[str, ...]) -> Comparison:
        """Return the part with certain labels, one or several of a kind; rows know no method."""
        parts = list(self)
        for name, value in labels.items():
            wanted = (value,) if isinstance(value, str) else value
            if wanted:
                parts = [part[part[name].isin(wanted)] if name in part else part for part in parts]
        return Comparison(*parts)


def compare(collection: Collection) -> Comparison:
    """Return our figures beside the paper's; the collection must be of one protocol."""
    rows = published()
    figures = [(*row.key, method, row.loss[method]) for row in rows for method in METHODS]
    paper = pd.DataFrame(figures, columns=[*CELL_KEY, "paper"])
    cells = paper.merge(collection.cells.astype({"n_splits": "float64"}), how="left", on=CELL_KEY)
    # The standard error is over the very splits that the mean is of.
    cells["standard_deviation"] = cells["standard_error"] * np.sqrt(cells["n_splits"])
    cells["state"] = cells["state"].fillna(MISSING)
    cells["ratio"] = ratio(cells["paper"], cells["loss"])
    measured = (cells[name] for name in ("paper", "loss", "standard_deviation", "n_splits"))
    cells["z"] = z_score(*measured)
    cells["verdict"] = verdict(cells["z"], cells["loss"])
    losses = cells["loss"].to_numpy().reshape(-1, len(METHODS))
    compared = []
    for row, ours in zip(rows, losses, strict=True):
        complete = not np.isnan(ours).any()
        best = best_methods(dict(zip(METHODS, ours.tolist(), strict=True)))
        line = {
            **row.key._asdict(),
            "complete": complete,
            "rank_correlation": rank_correlation(ours, row.loss.values()),
            "best": " ".join(best) if complete else MISSING,
            "best_paper": " ".join(row.best),
            "bold": row.bold,
            "misprinted": row.misprinted,
        }
        compared.append(line)
    return Comparison(cells[CELL_COLUMNS], pd.DataFrame(compared))


def ratio(paper: Any, ours: Any) -> FloatArray:
    """Return paper / ours; NaN where ours is 0 or missing."""
    ours = np.asarray(ours, float)
    return np.asarray(np.asarray(paper, float) / np.where(ours > 0, ours, np.nan))


def z_score(paper: Any, ours: Any, deviation: Any, n_splits: Any) -> FloatArray:
    """Return (paper − ours) / (deviation·sqrt(1/10 + 1/n_splits)).

    Where all splits have the same loss there is no scale to judge by: z is 0 if the figures are
    the same as printed, else infinite. One split alone has no deviation: z is NaN.

    A deviation that is nothing beside the mean is what rounding leaves of equal losses.
    """
    paper, ours, deviation, n = np.asarray([paper, ours, deviation, n_splits], dtype=float)
    deviation = np.where(deviation <= NO_SPREAD * np.abs(ours), 0.0, deviation)
    difference = paper - ours
    scale = deviation * np.sqrt(1 / PAPER_SPLITS + 1 / n)
    equal = np.round(ours, DIGITS) == np.round(paper, DIGITS)
    without_scale = np.where(equal, 0.0, np.copysign(np.inf, difference))
    return np.where(scale == 0, without_scale, difference / np.where(scale > 0, scale, np.nan))


def verdict(z: Any, ours: Any) -> NDArray[np.str_]:
    """Return agrees, differs, strongly differs, missing, or unjudged where z cannot be told."""
    distance = np.abs(np.asarray(z, float))
    cases = {
        MISSING: np.isnan(np.asarray(ours, float)),
        UNJUDGED: np.isnan(distance),
        AGREES: distance < AGREES_BELOW,
        DIFFERS: distance <= DIFFERS_UP_TO,
    }
    return np.select(list(cases.values()), list(cases), default=STRONGLY)


def rank_correlation(ours: Iterable[float], paper: Iterable[float]) -> float:
    """Return Spearman's correlation, ties as printed.

    NaN where a figure is missing, and where all of one side are the same.
    """
    ranks = [stats.rankdata(np.round(list(side), DIGITS)) for side in (ours, paper)]
    if any(not np.ptp(side) > 0 for side in ranks):
        return float("nan")
    return float(np.corrcoef(*ranks)[0, 1])

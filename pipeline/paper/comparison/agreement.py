"""Summaries of a comparison: how many figures agree, by link, dataset and method."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from pipeline.paper.comparison.compare import AGREES, AGREES_BELOW, JUDGED, KEY, MISSING, Comparison
from pipeline.paper.estimates import N_RESAMPLES, PERCENTILES, SEED
from pipeline.paper.published import BASELINE, DIGITS, METHODS

BOTH = "both"  # links together


def pool(found: Comparison, method: str = "ours") -> dict[str, Any]:
    """Return the summary of some cells and rows.

    Shares are of the cells that could be judged. Wins are the rows in which a method has the least
    loss, here and in the paper, counted in those rows of which all seven cells are there.

    Args:
        found: the cells and rows to summarise.
        method: whose wins to count.
    """
    cells = found.cells
    counts = {name: int((cells["verdict"] == name).sum()) for name in (*JUDGED, MISSING)}
    judged = sum(counts[name] for name in JUDGED)
    whole = found.rows[found.rows["complete"]]
    return {
        "cells": len(cells),
        "missing": counts[MISSING],
        "judged": judged,
        **{name.replace(" ", "_"): counts[name] for name in JUDGED},
        "share_agrees": counts[AGREES] / judged if judged else np.nan,
        "ratio": geometric_mean(cells["ratio"]),
        "rms_z": _root_mean_square(cells["z"]),
        "rank_correlation": float(whole["rank_correlation"].mean()),
        "rows": len(whole),
        "wins": _wins(whole["best"], method),
        "wins_paper": _wins(whole["best_paper"], method),
    }


def by_link(comparison: Comparison) -> pd.DataFrame:
    """Return a line for each link and one for both."""
    return pd.DataFrame([{"link": link, **pool(part)} for link, part in _links(comparison)])


def by_dataset(comparison: Comparison) -> pd.DataFrame:
    """Return a line for each dataset, under each link and both."""
    lines = [
        {"link": link, "dataset": dataset, **pool(part.of(dataset=dataset))}
        for link, part in _links(comparison)
        for dataset in dict.fromkeys(comparison.cells["dataset"])
    ]
    return pd.DataFrame(lines)


def by_method(comparison: Comparison) -> pd.DataFrame:
    """Return a line for each method, under each link and both; wins are that method's."""
    lines = [
        {"link": link, "method": method, **pool(part.of(method=method), method)}
        for link, part in _links(comparison)
        for method in METHODS
    ]
    # The order of the methods is not a matter of one of them.
    return pd.DataFrame(lines).drop(columns="rank_correlation")


def against_greedy(comparison: Comparison) -> pd.DataFrame:
    """Return in how many rows each method's loss is above, equal to or below that of greedy.

    Both sides are taken with the paper's two digits, and only rows in which both cells are there.
    """
    cells = comparison.cells
    greedy = cells[cells["method"] == BASELINE][[*KEY, "loss", "paper"]]
    pairs = cells.merge(greedy, on=KEY, suffixes=("", "_greedy"))
    pairs = pairs.dropna(subset=["loss", "loss_greedy"])
    lines: list[dict[str, Any]] = []
    for link, method in product(dict.fromkeys(cells["link"]), METHODS[1:]):
        part = pairs[(pairs["link"] == link) & (pairs["method"] == method)]
        lines.append({"link": link, "method": method, "rows": len(part)})
        for side, name in (("loss", "here"), ("paper", "paper")):
            lines[-1] |= _signs(part[side], part[f"{side}_greedy"], name)
    return pd.DataFrame(lines)


def share_by_chance(comparison: Comparison) -> float:
    """Return the share of cells that would agree if the paper's splits were like ours.

    With normal losses z then has Student's t distribution with n − 1 degrees of freedom.
    """
    n_splits = comparison.cells["n_splits"].dropna().to_numpy(dtype=float)
    freedom = n_splits[n_splits > 1] - 1
    if not len(freedom):
        return float("nan")
    return float(np.mean(1 - 2 * stats.t.sf(AGREES_BELOW, freedom)))


def share_interval(comparison: Comparison) -> tuple[float, float]:
    """Return a 95% interval of the share that agrees, from drawing whole tables of datasets again.

    The figures of a dataset under a link share their splits, methods and neighbouring cutoffs even
    most of their decisions: they agree or differ together, and count as one draw.
    """
    cells = comparison.cells[comparison.cells["verdict"].isin(JUDGED)]
    if not len(cells):
        return float("nan"), float("nan")
    agrees = cells["verdict"].eq(AGREES).groupby([cells["link"], cells["dataset"]], sort=False)
    agreeing, judged = agrees.sum().to_numpy(), agrees.size().to_numpy()
    rng = np.random.default_rng(SEED)
    drawn = rng.integers(len(judged), size=(N_RESAMPLES, len(judged)))
    shares = agreeing[drawn].sum(axis=1) / judged[drawn].sum(axis=1)
    low, high = np.percentile(shares, PERCENTILES)
    return float(low), float(high)


def geometric_mean(ratios: Iterable[float]) -> float:
    """Return exp of the mean logarithm, NaN of nothing."""
    values = np.asarray(list(ratios), dtype=float)
    values = values[np.isfinite(values)]
    return float(np.exp(np.log(values).mean())) if len(values) else float("nan")


def _links(comparison: Comparison) -> list[tuple[str, Comparison]]:
    links = dict.fromkeys(comparison.cells["link"])
    return [*((link, comparison.of(link=link)) for link in links), (BOTH, comparison)]


def _wins(best: Iterable[str], method: str) -> int:
    return sum(method in methods.split() for methods in best)


def _root_mean_square(z: pd.Series) -> float:
    """Return the root of the mean square of what is finite: one infinite z would hide the rest."""
    finite = z[np.isfinite(z)]
    return float(np.sqrt((finite**2).mean())) if len(finite) else float("nan")


def _signs(loss: pd.Series, greedy: pd.Series, side: str) -> dict[str, int]:
    sign = np.sign(loss.round(DIGITS) - greedy.round(DIGITS))
    names = {"above": 1, "equal": 0, "below": -1}
    return {f"{name}_{side}": int((sign == value).sum()) for name, value in names.items()}

"""Summaries of a comparison: how many figures agree, by link, dataset and method."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from pipeline.paper.comparison.compare import AGREES, AGREES_BELOW, JUDGED, MISSING, Comparison
from pipeline.paper.estimates import N_RESAMPLES, SEED, Estimate
from pipeline.paper.published import BASELINE, CHAMPION, DIGITS, KEY, METHODS

BOTH = "both"  # links together
SIGNS = {"above": 1, "equal": 0, "below": -1}


def pool(found: Comparison, method: str = CHAMPION) -> dict[str, Any]:
    """Return the summary of some cells and rows.

    Shares are of the cells that could be judged. Wins are the rows in which a method has the least
    loss, here and in the paper, counted in those rows of which all seven cells are there.

    Args:
        found: the cells and rows to summarise.
        method: whose wins to count.
    """
    cells = found.cells
    z = cells["z"][np.isfinite(cells["z"])]  # one infinite z would hide the rest
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
        "rms_z": float(np.sqrt((z**2).mean())),
        "rank_correlation": float(whole["rank_correlation"].mean()),
        "rows": len(whole),
        "wins": _wins(whole["best"], method),
        "wins_paper": _wins(whole["best_paper"], method),
    }


def summaries(comparison: Comparison, *labels: str) -> pd.DataFrame:
    """Return a line for each link and one for both, or as many for each dataset or method.

    The wins in the lines of methods are each method's own.
    """
    cells, lines = comparison.cells, []
    links = [*dict.fromkeys(cells["link"]), BOTH]
    for values in product(links, *(dict.fromkeys(cells[label]) for label in labels)):
        line = dict(zip(("link", *labels), values, strict=True))
        part = comparison.of(**{name: value for name, value in line.items() if value != BOTH})
        lines.append({**line, **pool(part, line.get("method", CHAMPION))})
    # The order of the methods is not a matter of one of them.
    return pd.DataFrame(lines).drop(columns=["rank_correlation"] if "method" in labels else [])


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
            sign = np.sign(part[side].round(DIGITS) - part[f"{side}_greedy"].round(DIGITS))
            lines[-1] |= {f"{word}_{name}": int((sign == k).sum()) for word, k in SIGNS.items()}
    return pd.DataFrame(lines)


def share_by_chance(comparison: Comparison) -> float:
    """Return the share of cells that would agree if the paper's splits were like ours.

    With normal losses z then has Student's t distribution with n − 1 degrees of freedom.
    """
    n_splits = comparison.cells["n_splits"].dropna().to_numpy(dtype=float)
    freedom = n_splits[n_splits > 1] - 1
    shares = 1 - 2 * stats.t.sf(AGREES_BELOW, freedom)
    return float(shares.mean()) if len(shares) else float("nan")


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
    drawn = np.random.default_rng(SEED).integers(len(judged), size=(N_RESAMPLES, len(judged)))
    shares = agreeing[drawn].sum(axis=1) / judged[drawn].sum(axis=1)
    return Estimate(agreeing.sum() / judged.sum(), shares).interval


def geometric_mean(ratios: Iterable[float]) -> float:
    """Return exp of the mean logarithm, NaN of nothing."""
    values = np.asarray(list(ratios), dtype=float)
    values = values[np.isfinite(values)]
    return float(np.exp(np.log(values).mean())) if len(values) else float("nan")


def _wins(best: Iterable[str], method: str) -> int:
    return sum(method in methods.split() for methods in best)

"""Two ways to report a method: alpha tuned on the reported splits, or on ten fresh ones.

The paper tunes alpha on the ten splits it reports (*hindsight*), which flatters whatever has an
alpha. Here the reported splits are the same ten, once under that alpha, and once under the alpha
that was best on ten others (*held out*). For the rows of Tables 1 and 2: a line for each cell, and
over all rows of a link. The intervals hold the alphas fixed: they tell how sure a figure is, given
the alphas that were chosen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from pipeline.paper.by_setting import FRESH, REPORTED, Grid, grids
from pipeline.paper.collection import Collection, CollectionError, fill_command, fill_commands
from pipeline.paper.estimates import Estimate, FloatArray, mean_of, mean_over_splits, ratio, weights
from pipeline.paper.published import BASELINE, CELL_KEY, CHAMPION, LINKS, METHODS, Setting, in_text

TUNED_ON = {"hindsight": REPORTED, "held_out": FRESH}  # by way of tuning
WAYS = tuple(TUNED_ON)
SPLITS = {way: f"splits {splits[0]}-{splits[-1]}" for way, splits in TUNED_ON.items()}
# What a command needs for the splits a way tunes on; the reported ones are run by default.
ON_SPLITS = {"hindsight": "", "held_out": f" 'splits=[{','.join(map(str, FRESH))}]'"}
FIGURES = ("loss", "advantage", "ours_beats")
ENDS = ("", "_low", "_high")
CELL_COLUMNS = (
    "protocol", *CELL_KEY, "state",
    *(f"alpha_{way}" for way in WAYS),
    *(f"{figure}_{way}{end}" for figure in FIGURES for way in WAYS for end in ENDS),
    *(f"survives{end}" for end in ENDS),
    "missing", "command",
)  # fmt: skip
OVERALL_COLUMNS = (
    *("link", "method", "n_settings", "same_alpha"),
    *(name for name in CELL_COLUMNS if name.startswith(("advantage", "ours_beats", "survives"))),
)
COLUMNS = {"hindsight": CELL_COLUMNS, "hindsight_overall": OVERALL_COLUMNS}  # by file


class Way(NamedTuple):
    """One cell under one way of tuning.

    Attributes:
        alpha: the tuned one; the smallest with the least mean loss over the tuning splits.
        loss: mean of R_T under it, over the reported splits.
        advantage: over greedy, 1 − loss / loss of greedy.
        ours_beats: probability that ``ours`` beats the method, see :func:`wins`; None for itself
            and where it has no results.
    """

    alpha: float
    loss: Estimate
    advantage: Estimate
    ours_beats: Estimate | None


Cell = dict[str, Way]


def cells_of(setting: Setting, found: Mapping[str, Grid]) -> dict[str, Cell]:
    """Return what can be told of a setting's methods, both ways.

    A method with gaps is left out, all are where greedy has gaps.
    """
    whole = {method: grid for method, grid in found.items() if not lacking(grid)}
    if BASELINE not in whole:
        return {}
    weight = weights(setting.dataset, len(REPORTED))
    return {method: {way: _way(whole, method, way, weight) for way in WAYS} for method in whole}


def lacking(grid: Grid | None) -> list[str]:
    """Return the ways for whose tuning splits losses are missing."""
    return [way for way, splits in TUNED_ON.items() if grid is None or not grid.has(splits)]


def wins(ours: FloatArray, rival: FloatArray) -> FloatArray:
    """Return for each split 1 where ours has the smaller loss, ½ for a tie, else 0.

    Their mean is the probability of improvement of Agarwal et al., *Deep Reinforcement Learning
    at the Edge of the Statistical Precipice*, NeurIPS 2021 (the package rliable), adapted to
    pairs: theirs compares every run of one algorithm with every run of the other, here both
    methods ran on the same splits and are compared split by split,

        P(ours beats rival) = mean over splits s of 1{ours_s < rival_s} + ½·1{ours_s = rival_s},

    then averaged over settings with equal weights, as theirs is over tasks.
    """
    return np.asarray((ours < rival) + 0.5 * (ours == rival))


def survives(hindsight: Estimate, held_out: Estimate) -> tuple[float, float, float]:
    """Return which share of an advantage is left when held out, and the interval of that share.

    NaN where there was no advantage; its interval NaN where that of the advantage reaches 0, as
    a share of what may be nothing can be anything.
    """
    if not hindsight.value > 0:
        return np.nan, np.nan, np.nan
    share = ratio(held_out, hindsight)
    low, high = share.interval if hindsight.interval[0] > 0 else (np.nan, np.nan)
    return share.value, low, high


def _way(whole: Mapping[str, Grid], method: str, way: str, weight: FloatArray) -> Way:
    alpha, losses = _reported(whole[method], way)
    _, greedy = _reported(whole[BASELINE], way)
    loss = mean_over_splits(losses, weight)
    cost = ratio(loss, mean_over_splits(greedy, weight))
    beats = None
    if method != CHAMPION and CHAMPION in whole:
        beats = mean_over_splits(wins(_reported(whole[CHAMPION], way)[1], losses), weight)
    return Way(alpha, loss, Estimate(1 - cost.value, 1 - cost.resampled), beats)


def _reported(grid: Grid, way: str) -> tuple[float, FloatArray]:
    """Return the alpha that a way tunes, and its losses on the reported splits."""
    row = grid.tuned(TUNED_ON[way])
    return float(grid.alphas[row]), grid.on(REPORTED)[row]


def both_ways(losses: pd.DataFrame, protocol: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return a row for each cell of Tables 1 and 2, and a row for each link and method.

    The latter are means over settings, each of the same weight. The datasets are taken as given:
    their splits are resampled, not they.
    """
    found = grids(losses)
    cells = {setting: cells_of(setting, found.get(setting, {})) for setting in in_text()}
    rows: list[dict[str, Any]] = []
    for (setting, known), method in product(cells.items(), METHODS):
        labels = {"protocol": protocol, **setting._asdict(), "method": method}
        if method not in known:
            rows.append({**labels, "state": "missing", **_gap(labels, found.get(setting, {}))})
            continue
        alphas = {f"alpha_{way}": figures.alpha for way, figures in known[method].items()}
        rows.append({**labels, "state": "done", "missing": "", "command": "", **alphas})
        rows[-1] |= _mean_figures([known[method]])
    overall: list[dict[str, Any]] = []
    for link, method in product(LINKS, METHODS):
        here = (known for setting, known in cells.items() if setting.link == link)
        chosen = [known[method] for known in here if method in known]
        overall.append({"link": link, "method": method, "n_settings": len(chosen)})
        overall[-1] |= _mean_figures(chosen) if chosen else {}
    return pd.DataFrame(rows, columns=CELL_COLUMNS), pd.DataFrame(overall, columns=OVERALL_COLUMNS)


def gap_commands(cells: pd.DataFrame) -> list[str]:
    """Return few commands that run all that is missing."""
    own = cells[~cells["missing"].str.startswith(BASELINE)]  # the gaps of greedy are its own
    gaps = {way: own[own["missing"].str.contains(SPLITS[way], regex=False)] for way in WAYS}
    return [
        command + ON_SPLITS[way]
        for way, found in gaps.items()
        for command in fill_commands(found.to_dict("records"))
    ]


def joined(collection: Collection, fresh: Collection) -> Collection:
    """Return a collection with the losses of another, which has the fresh splits."""
    losses = pd.concat([collection.losses, fresh.losses], ignore_index=True)
    twice = losses[losses.duplicated([*losses.columns.drop("loss")])]
    if len(twice):
        name = " ".join(map(str, twice.iloc[0].drop("loss")))
        raise CollectionError(f"both collections have a loss of {name}")
    return collection._replace(losses=losses)


def _mean_figures(cells: Sequence[Cell]) -> dict[str, float]:
    """Return the means over cells, those of one cell are its own figures, by column."""
    same = [len({cell[way].alpha for way in WAYS}) == 1 for cell in cells]
    found = {"same_alpha": float(np.mean(same))}
    for figure, way in product(FIGURES, WAYS):
        known = [e for cell in cells if (e := getattr(cell[way], figure)) is not None]
        found |= mean_of(known).columns(f"{figure}_{way}") if known else {}
    share = survives(*(mean_of([cell[way].advantage for cell in cells]) for way in WAYS))
    return found | dict(zip((f"survives{end}" for end in ENDS), share, strict=True))


def _gap(labels: Mapping[str, str], found: Mapping[str, Grid]) -> dict[str, str]:
    """Return what a cell lacks, its own results or those of greedy, and the command for it."""
    method = labels["method"] if lacking(found.get(labels["method"])) else BASELINE
    ways = lacking(found.get(method))
    missing = " and ".join(SPLITS[way] for way in ways)
    one = fill_command({**labels, "method": method})
    return {
        "missing": missing if method == labels["method"] else f"{method} on {missing}",
        "command": "; ".join(one + ON_SPLITS[way] for way in ways),
    }

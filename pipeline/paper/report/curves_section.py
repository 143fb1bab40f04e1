"""Lines to draw: R_t/t against t, and the loss against alpha, of every setting and method."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.paper.by_setting import Grid, grids, lines_of, relative
from pipeline.paper.collection import Collection
from pipeline.paper.fill_commands import fill_command
from pipeline.paper.published import BASELINE, Setting, absent, published
from pipeline.results.average import AverageLoss

SIGNIFICANT = 4  # digits of a point: less than a pixel
Shared = dict[tuple[float, ...], int]  # places of lists


def series_part(collection: Collection) -> dict[str, Any]:
    """Return the lines by setting and method, and the commands for those that are missing."""
    (protocol,) = collection.protocols
    shared: Shared = {}
    curves, losses = lines_of(collection.curves), grids(collection.losses)
    tuned = collection.cells.set_index([*Setting._fields, "method"])["alpha"].to_dict()
    settings: dict[str, Any] = {}
    for setting in sorted({*curves, *losses, *(Setting(*row.key) for row in published())}):
        lines = curves.get(setting, {})
        found = losses.get(setting, {})
        settings["/".join(setting)] = {
            "curves": {method: _curve(line, shared) for method, line in lines.items()},
            "alphas": {
                method: _alphas(grid, found[BASELINE], tuned[*setting, method], shared)
                for method, grid in found.items()
                if BASELINE in found and found[BASELINE].has(grid.splits) and _whole(grid).any()
            },
            "missing": _missing(protocol, setting, absent(found)),
        }
    return {"lists": list(map(list, shared)), "settings": settings}


def _place(shared: Shared, values: Iterable[float]) -> int:
    """Return where a list that many lines share is kept, once."""
    return shared.setdefault(tuple(values), len(shared))


def _curve(line: AverageLoss, shared: Shared) -> dict[str, Any]:
    return {
        "x": _place(shared, line.rounds.tolist()),
        "y": _short(line.mean),
        "e": _short(line.error),
    }


def _alphas(grid: Grid, greedy: Grid, tuned: float, shared: Shared) -> dict[str, Any]:
    """Return for each alpha the mean of R_T over splits, and that relative to greedy.

    Alphas that lack a split are left out: their mean would be one of other splits. No digit is cut
    off, so that the page rounds the loss of the tuned alpha as the tables do.
    """
    whole = _whole(grid)
    kept = Grid(grid.alphas[whole], grid.splits, grid.loss[whole])
    with np.errstate(divide="ignore", invalid="ignore"):  # alpha 0 has no logarithm to draw at
        line = relative(kept, greedy, kept.splits)
    return {
        "x": _place(shared, kept.alphas.tolist()),
        "loss": kept.loss.mean(axis=1).tolist(),
        "y": _known(line.ratio.tolist()),
        "e": _known(line.error.tolist()),
        "tuned": tuned,
    }


def _whole(grid: Grid) -> NDArray[np.bool_]:
    """Tell which alphas were run on all splits."""
    return np.asarray(np.isfinite(grid.loss).all(axis=1))


def _missing(protocol: str, setting: Setting, methods: list[str]) -> list[str]:
    """Return the methods that have no line and the command that runs them."""
    if not methods:
        return []
    labels = {"protocol": protocol, **setting._asdict(), "method": ",".join(methods)}
    return [*methods, fill_command(labels)]


def _short(values: Iterable[float]) -> list[float | None]:
    """Return numbers with few digits."""
    return _known(float(f"{value:.{SIGNIFICANT}g}") for value in values)


def _known(values: Iterable[float]) -> list[float | None]:
    """Return numbers, None where there is none: JSON has neither NaN nor infinity."""
    return [value if math.isfinite(value) else None for value in values]

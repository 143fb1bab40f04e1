"""Results made up for tests: random losses near the published ones, as no sweep would give them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from pipeline.paper.collection import CELL_TYPES, CURVE_TYPES, LABELS, LOSS_TYPES, Collection
from pipeline.paper.published import METHODS, PublishedRow, published

ALPHAS, TUNED = np.array([0.25, 0.5, 1.0]), 0.5
ROUNDS = np.array([1, 50, 100])


def near_the_paper(
    seed: int = 0,
    n_splits: int = 10,
    spread: float = 0.2,
    keep: Callable[[PublishedRow], bool] = lambda _: True,
    protocol: str = "inferred",
) -> Collection:
    """Return results for the published cells, or some, that differ from the paper by chance."""
    rows = [row for row in published() if keep(row)]
    labels = [
        (protocol, row.key.dataset, row.key.link, row.key.cutoff, method)
        for row in rows
        for method in METHODS
    ]
    paper = np.array([row.loss[method] for row in rows for method in METHODS])
    noise = np.random.default_rng(seed).standard_normal((len(paper), len(ALPHAS), n_splits))
    return of_losses(labels, np.abs(paper[:, None, None] * (1 + spread * noise)))


def of_losses(labels: list[tuple[str, ...]], losses: np.ndarray) -> Collection:
    """Return a collection of given losses: cells × the three alphas × splits."""
    names = pd.DataFrame(labels, columns=LABELS)
    n_cells, n_alphas, n_splits = losses.shape
    tuned = losses[:, list(ALPHAS).index(TUNED)]
    cells = names.assign(state="done", reason="", folder="runs/made/up", **_figures(tuned))
    table = _repeated(names, n_alphas * n_splits).assign(
        alpha=np.tile(np.repeat(ALPHAS, n_splits), n_cells),
        split=np.tile(np.arange(n_splits), n_cells * n_alphas),
        loss=losses.ravel(),
    )
    curves = _repeated(names, len(ROUNDS)).assign(
        round=np.tile(ROUNDS, n_cells), mean=0.5, standard_error=0.1
    )
    frames = zip((cells, table, curves), (CELL_TYPES, LOSS_TYPES, CURVE_TYPES), strict=True)
    return Collection(*(frame[list(types)].astype(types) for frame, types in frames))


def without(collection: Collection, state: str = "missing", **labels: str) -> Collection:
    """Return a collection in which some cells are missing, or failed."""
    parts = [collection.cells, collection.losses, collection.curves]
    chosen = [np.logical_and.reduce([part[k] == v for k, v in labels.items()]) for part in parts]
    cells = parts[0].copy()
    figures = [name for name, kind in CELL_TYPES.items() if kind != "str"]
    cells.loc[chosen[0], figures] = pd.NA
    cells.loc[chosen[0], "folder"] = ""
    cells.loc[chosen[0], "state"] = state
    cells.loc[chosen[0], "reason"] = "it broke" if state == "failed" else ""
    return Collection(cells, *(part[~c] for part, c in zip(parts[1:], chosen[1:], strict=True)))


def _figures(tuned: np.ndarray) -> dict[str, Any]:
    n = tuned.shape[1]
    one = np.full(len(tuned), np.nan)
    return {
        "alpha": TUNED,
        "loss": tuned.mean(axis=1),
        "standard_error": tuned.std(axis=1, ddof=1) / np.sqrt(n) if n > 1 else one,
        "accepted_rate": 0.5,
        "missed_rate": 0.1,
        "cutoff_value": 0.3,
        "n_rounds": 100,
        "n_splits": n,
    }


def _repeated(names: pd.DataFrame, times: int) -> pd.DataFrame:
    return names.loc[names.index.repeat(times)].reset_index(drop=True)

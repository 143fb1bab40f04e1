"""A whole made-up paper: curves that fall like 1/sqrt(t), valleys in alpha, twenty splits."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import pandas as pd

from pipeline.paper.collection import CELL_TYPES, CURVE_TYPES, LABELS, LOSS_TYPES, Collection
from pipeline.paper.published import METHODS, PublishedRow, published

EXPONENTS, N_SPLITS, N_REPORTED, N_POINTS = np.arange(-10.0, 5.0), 20, 10, 200
# How much of greedy's loss a method saves at best, and at which exponent of alpha.
VALLEYS = {
    "greedy": (0.0, 0.0), "eps_greedy": (0.02, -7.0), "os_eps_greedy": (0.08, -6.0),
    "noise": (0.05, -4.0), "os_noise": (0.25, -2.0), "margin": (0.3, -3.0), "ours": (0.38, -1.0),
}  # fmt: skip


@cache
def full_collection() -> Collection:
    """Return 10 datasets × 2 links × 10 cutoffs × 7 methods; alpha is tuned on splits 0-9."""
    rng = np.random.default_rng(0)
    labels: list[tuple[str, ...]] = []
    parts: list[list[dict[str, np.ndarray]]] = [[], [], []]
    for row in published():
        easy = rng.normal(0, 0.12, N_SPLITS)  # what makes a split easy does so for all methods
        for method in METHODS:
            labels.append(("inferred", row.key.dataset, row.key.link, row.key.cutoff, method))
            for part, columns in zip(parts, _cell(rng, row, method, easy), strict=True):
                part.append(columns)
    names = pd.DataFrame(labels, columns=LABELS)
    types = (CELL_TYPES, LOSS_TYPES, CURVE_TYPES)
    return Collection(
        *(_joined(names, part, kind) for part, kind in zip(parts, types, strict=True))
    )


def part_of(collection: Collection, splits: range) -> Collection:
    """Return a collection with the losses on some splits."""
    losses = collection.losses[collection.losses["split"].isin(splits)]
    return Collection(collection.cells, losses, collection.curves)


def _joined(
    names: pd.DataFrame, parts: Sequence[dict[str, np.ndarray]], types: dict[str, str]
) -> pd.DataFrame:
    lengths = [len(part["loss" if "loss" in part else "mean"]) for part in parts]
    frame = names.loc[np.repeat(np.arange(len(names)), lengths)].reset_index(drop=True)
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    constant = {"state": "done", "reason": "", "folder": "runs/made/up", "accepted_rate": 0.5}
    constant |= {"missed_rate": 0.1, "cutoff_value": 0.4, "n_splits": N_REPORTED}
    return frame.assign(**constant, **columns)[list(types)].astype(types)


def _cell(
    rng: np.random.Generator, row: PublishedRow, method: str, easy: np.ndarray
) -> tuple[dict[str, np.ndarray], ...]:
    """Return the columns of a cell in the three tables, without its labels."""
    alphas = np.zeros(1) if method == "greedy" else 2.0**EXPONENTS
    depth, best = VALLEYS[method]
    away = np.zeros(1) if method == "greedy" else EXPONENTS - best
    level = 1 - depth * np.exp(-((away / 3) ** 2)) + 0.02 * np.expm1(np.maximum(away, 0))
    loss = row.loss["greedy"] * level[:, None]
    loss = loss * np.exp(easy + rng.normal(0, 0.04, (len(alphas), N_SPLITS)))
    tuned = loss[:, :N_REPORTED].mean(axis=1).argmin()
    chosen = loss[tuned, :N_REPORTED]
    figures = {
        "alpha": alphas[tuned],
        "loss": chosen.mean(),
        "standard_error": chosen.std(ddof=1) / np.sqrt(N_REPORTED),
        "n_rounds": 48_000
        if row.key.link == "linear" and row.key.dataset in ("adult", "bank")
        else 900,
    }
    every = np.meshgrid(alphas, np.arange(N_SPLITS), indexing="ij")
    losses = {"alpha": every[0].ravel(), "split": every[1].ravel(), "loss": loss.ravel()}
    curve = _curve(rng, figures["loss"], figures["n_rounds"])
    return {name: np.array([value]) for name, value in figures.items()}, losses, curve


def _curve(rng: np.random.Generator, last: float, n_rounds: int) -> dict[str, np.ndarray]:
    rounds = np.linspace(1, n_rounds, N_POINTS).astype(int)
    walk = np.exp(0.01 * np.cumsum(rng.normal(size=N_POINTS))[::-1])
    mean = last / n_rounds * (0.4 + 0.6 * np.sqrt(n_rounds / rounds)) * walk
    return {"round": rounds, "mean": mean, "standard_error": 0.08 * mean}

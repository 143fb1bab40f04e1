"""Cells of the paper beside what its reader would write: scikit-learn, refitted on all rows."""

from __future__ import annotations

from collections.abc import Iterator
from time import process_time
from typing import Any

import numpy as np
from rivals.plain_loop import ALPHAS, prepare
from rivals.sklearn_greedy import greedy_loss

from benchmarks.report import Row, faster
from benchmarks.sizes import Sizes
from pipeline.core.engine import simulate
from pipeline.core.lanes import Split, grid
from pipeline.core.loss import cutoff_at

METHODS = ["greedy", "eps_greedy", "os_eps_greedy", "noise", "os_noise", "margin", "ours"]
CELLS = [
    (name, link) for name in ("diabetes", "german", "adult") for link in ("linear", "logistic")
]
CUTOFF = 0.5


def cells(sizes: Sizes) -> Iterator[Row]:
    """One split of a cell: all our lanes in one call, against one refitted greedy."""
    for name, link in CELLS:
        shared = prepare(name, link, 1)
        rounds = sizes.refit_rounds if link == "linear" else sizes.refit_batches
        yield _row(f"{name}, {link}, cutoff 50%", shared, link == "linear", rounds)


def _row(case: str, shared: dict[str, Any], linear: bool, rounds: int) -> Row:
    (split,) = shared["splits"]
    stream = split.stream[: rounds * shared["batch_size"]]
    shared = {**shared, "splits": [Split(split.initial, stream)]}
    cutoff = cutoff_at(shared["truth"], CUTOFF)
    lanes = grid(METHODS, ALPHAS, [cutoff], 1)
    simulate(lanes=lanes, **shared)  # with the kernels loaded
    start = process_time()
    found = simulate(lanes=lanes, **shared)
    ours = (process_time() - start) / len(lanes)
    theirs, loss = _refitted(shared, cutoff, linear)
    greedy = next(i for i, lane in enumerate(lanes) if lane.method.name == "greedy")
    part = "" if len(stream) == len(split.stream) else f" of {len(split.stream):,}"
    note = f"{len(stream):,}{part} rows; greedy loses {found.loss[greedy]:.4g}, refitted {loss:.4g}"
    return faster(case, "scikit-learn refit", ours, theirs, note=note)


def _refitted(shared: dict[str, Any], cutoff: float, linear: bool) -> tuple[float, float]:
    """Return processor seconds and loss of the refitted greedy."""
    (split,) = shared["splits"]
    order = np.concatenate([split.initial, split.stream])
    X = shared["X"][order]
    if linear and shared["spec"].fit_intercept:
        X = np.column_stack([X, np.ones(len(X))])
    y, truth = shared["y"][order], shared["truth"][order]
    start = process_time()
    loss = greedy_loss(
        *(X, y, truth, len(split.initial)),
        linear=linear,
        batch=shared["batch_size"],
        cutoff=cutoff,
    )
    return process_time() - start, loss

"""Stratified splits: which rows are the warm start, and in which order the others arrive."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pipeline.core.lanes import Split


def initial_size(n: int, share: float | None = None, count: int | None = None) -> int:
    """Return the number of initial rows: a share of n, a count, or the smaller of both."""
    if share is None and count is None:
        raise ValueError("the initial set needs a share or a count")
    if share is not None and not 0 < share < 1:
        raise ValueError(f"initial share must lie between 0 and 1, got {share!r}")
    if count is not None and count < 1:
        raise ValueError(f"initial count must be at least 1, got {count!r}")
    sizes = [] if share is None else [math.ceil(share * n)]
    size = min(sizes if count is None else [*sizes, count])
    if size >= n:
        raise ValueError(f"an initial set of {size} leaves no stream: there are {n} rows")
    return size


def stratified_split(y: NDArray[np.float64], n_initial: int, seed: int, number: int) -> Split:
    """Draw a warm start with the label shares of y; the rest arrives in random order.

    Each label gets its share of ``n_initial`` rounded down, and the labels with the largest
    remainders one row more. Real-valued labels (of synthetic data) have no classes to keep the
    shares of: the warm start is then a plain random one. Nothing but y, the seed and the number
    of the split matters.
    """
    generator = np.random.default_rng([seed, number])
    labels, codes = np.unique(y, return_inverse=True)
    if not np.isin(labels, (0.0, 1.0)).all():
        labels, codes = labels[:1], np.zeros(len(y), dtype=np.int64)
    wanted = np.bincount(codes) * (n_initial / len(y))
    sizes = np.floor(wanted).astype(int)
    short = n_initial - sizes.sum()
    sizes[np.argsort(sizes - wanted, kind="stable")[:short]] += 1
    order = generator.permutation(len(y))
    chosen = [order[codes[order] == label][: sizes[label]] for label in range(len(labels))]
    initial = np.sort(np.concatenate(chosen))
    return Split(initial, order[~np.isin(order, initial)])

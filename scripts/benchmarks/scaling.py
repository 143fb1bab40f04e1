"""How the cost grows: with threads, with rounds, with the share of non-zeros."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from rivals import data
from rivals.numpy_loop import METHODS

from benchmarks.report import Row, Target, faster
from benchmarks.sizes import Sizes
from benchmarks.streams import (
    ALPHA,
    N_INITIAL,
    ONE_HOT,
    SHAPES,
    Stream,
    adult_stream,
    linear_stream,
    make_stream,
)
from benchmarks.timing import best_of, wall_seconds
from pipeline.core.engine import grid
from pipeline.core.kernels.rows import SPARSE_DENSITY

# A small grid of the kind a sweep has.
SWEEP_ALPHAS, SWEEP_QUANTILES = (0.0625, 0.125, 0.25, 0.5, 1.0), (0.5, 0.6, 0.7, 0.8, 0.9)
LINKS = {"linear, batch 1": ("linear", 1), "logistic, batch 1000": ("logistic", 1000)}


def threads(sizes: Sizes) -> Iterator[Row]:
    """Two threads against one on many lanes."""
    streams = {
        "linear": linear_stream(ONE_HOT, sizes.thread_rounds),
        "logistic": adult_stream(sizes.thread_rounds),
    }
    for name, (link, batch) in LINKS.items():
        stream = streams[link]
        cutoffs = np.quantile(stream.truth, SWEEP_QUANTILES).tolist()
        lanes = grid(METHODS, SWEEP_ALPHAS, cutoffs, 1)
        stream.simulate(lanes[:2], batch_size=batch)
        run = partial(stream.simulate, lanes, batch_size=batch)
        costs = {n: partial(wall_seconds, partial(run, n_threads=n)) for n in (2, 1)}
        best = best_of(sizes.repeats + 2, costs)
        case = f"{name}, d = 122 one-hot, {len(lanes)} lanes × {stream.n_rounds:,} rows"
        yield faster(case, "1 thread", best[2], best[1], Target(1.7))


def rounds(sizes: Sizes) -> Iterator[Row]:
    """Cost of a round in long streams against that in the shortest, d = 8."""
    whole = linear_stream(SHAPES[0], max(sizes.rounds))
    lanes = whole.lanes(alphas=[ALPHA])
    whole.simulate(lanes)
    costs = {t: partial(_first(whole, t).cost, lanes) for t in sizes.rounds}
    best = best_of(sizes.repeats, costs)
    (shortest, least), *longer = best.items()
    for t, cost in longer:
        ratio = cost / least
        case, versus = f"{SHAPES[0]}, T = {t:,}", f"T = {shortest:,}"
        yield Row(case, versus, ratio, cost, least, target=Target(1.25, at_most=True))


def _first(stream: Stream, n_rounds: int) -> Stream:
    n = stream.n_initial + n_rounds
    rows = (stream.X[:n], stream.y[:n], stream.truth[:n])
    return Stream(*rows, stream.cutoff, stream.spec, stream.n_initial)


def layout(sizes: Sizes) -> Iterator[Row]:
    """The sparse layout against the dense one at several shares of non-zeros, d = 122."""
    for density in sizes.densities:
        X, y = _thinned(N_INITIAL + sizes.layout_rounds, density)
        for name, (link, batch) in LINKS.items():
            stream = make_stream(X, y, link)
            run = partial(stream.seconds, stream.lanes(alphas=[ALPHA]), batch_size=batch)
            best = best_of(sizes.repeats, {k: partial(run, sparse=k) for k in (True, False)})
            chosen = density < SPARSE_DENSITY
            excess = best[chosen] / min(best.values())
            note = f"chosen: {'sparse' if chosen else 'dense'}, {excess:.2f} × the best"
            case = f"{name}, {density:.0%} non-zeros"
            yield faster(case, "dense layout", best[True], best[False], note=note)


def _thinned(n: int, density: float) -> tuple[np.ndarray, np.ndarray]:
    """Return normal rows of 122 columns, only a random share of the entries kept."""
    X, y = data.dense(n, 122, 3, constant=False)
    X[np.random.default_rng(4).random(X.shape) >= density] = 0.0
    return X, y

"""Peak memory of many lanes on Adult's shape; each run is a process of its own.

``python -m benchmarks.memory LANES ROWS`` is one such run: the grid of the paper's experiments (67
lanes a cutoff and split, 10 cutoffs, 10 splits) at high cutoffs, where few rows are accepted and
lanes are cheap. Every lane has all its d × d matrices whatever it accepts.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from time import perf_counter

import numpy as np
from rivals.numpy_loop import METHODS

from benchmarks.report import Row, Target, quantity
from benchmarks.sizes import Sizes
from benchmarks.streams import adult_stream
from benchmarks.timing import in_fresh_process
from pipeline.core.engine import Lane, Simulation, Split, grid, simulate

N_THREADS, N_SPLITS = 2, 10
ALPHAS = tuple(2.0**-k for k in range(11))
QUANTILES = tuple(np.linspace(0.95, 0.995, 10).tolist())
SQUARES = 6  # A, A⁻¹, H and three of scratch: what a lane works with


def memory(sizes: Sizes) -> Iterator[Row]:
    """Peak RSS of many lanes against few, on the same table and splits."""
    few, many = (in_fresh_process("benchmarks.memory", n, sizes.adult) for n in sizes.memory_lanes)
    n_few, n_many = sizes.memory_lanes
    growth = quantity(many["peak"] - few["peak"], "B")
    states = quantity(8 * SQUARES * 122**2 * (n_many - n_few), "B")
    note = (
        f"+{growth}, of which results {quantity(many['results'], 'B')}; d² for every lane would "
        f"be +{states}; the process without a run {quantity(many['before'], 'B')}; "
        f"{many['seconds']:.0f} s with {N_THREADS} threads"
    )
    case = f"{n_many:,} lanes, {sizes.adult:,} × 122 one-hot, peak RSS"
    target = Target(1.5, at_most=True)
    ratio = many["peak"] / few["peak"]
    peaks = (many["peak"], few["peak"])
    yield Row(case, f"{n_few:,} lanes", ratio, *peaks, "B", target, note)


def peak_rss() -> int:
    """Return the largest resident memory of this process so far, in bytes.

    Linux counts the parent's memory into a child's ``ru_maxrss`` when the child is started by
    vfork, as subprocess does, so that VmHWM, the peak of this program alone, is asked first.
    """
    status = Path("/proc/self/status")
    found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text()) if status.exists() else None
    if found:
        return int(found[1]) * 1024
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def result_bytes(run: Simulation) -> int:
    """Return the size of what a simulation hands back."""
    values = (getattr(run, field.name) for field in fields(run))
    return sum(value.nbytes for value in values if isinstance(value, np.ndarray))


def _lanes(n: int, truth: np.ndarray) -> list[Lane]:
    """Return n lanes of the grid, evenly spread over it."""
    cutoffs = np.quantile(truth, QUANTILES).tolist()
    lanes = grid(METHODS, ALPHAS, cutoffs, N_SPLITS)
    return [lanes[k * len(lanes) // n] for k in range(n)]


def main(n_lanes: int, n_rows: int) -> None:
    """Run the lanes and print peak memory and time."""
    stream = adult_stream(n_rows, "linear")
    orders = [np.random.default_rng(k).permutation(n_rows) for k in range(N_SPLITS)]
    splits = [Split(order[: stream.n_initial], order[stream.n_initial :]) for order in orders]
    lanes = _lanes(n_lanes, stream.truth)
    before, start = peak_rss(), perf_counter()
    run = simulate(
        *(stream.X, stream.y),
        truth=stream.truth,
        splits=splits,
        lanes=lanes,
        spec=stream.spec,
        n_threads=N_THREADS,
    )
    found = {"before": before, "peak": peak_rss(), "results": result_bytes(run)}
    print(json.dumps({**found, "seconds": perf_counter() - start}))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

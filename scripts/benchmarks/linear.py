"""Linear link, one row a round: ours, other people's ways, and what the processor could do."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from rivals import flops, mabwiser_linucb, numpy_loop, river_bayes, sklearn_refit, vw_regcb
from rivals.numpy_loop import METHODS

from benchmarks.report import Row, Target, faster
from benchmarks.sizes import Sizes
from benchmarks.streams import ALPHA, DENSE_122, ONE_HOT, SHAPES, Stream, linear_stream
from benchmarks.timing import best_of, cpu_seconds, cpu_share
from pipeline.core.engine import Lane

ALL, OURS = "ours, seven methods", "ours, the method `ours`"
LOOP, RIDGE = "numpy Sherman-Morrison loop", "scikit-learn Ridge refit"
LOOP_TARGETS = {SHAPES[0]: Target(30), DENSE_122: Target(8), ONE_HOT: Target(8)}
RIVALS = {
    "river BayesianLinearRegression": river_bayes,
    "mabwiser LinUCB": mabwiser_linucb,
    "Vowpal Wabbit --regcb": vw_regcb,
}
# Their decisions hang on no random draw, so that two implementations must agree.
DRAWLESS = ("greedy", "margin", "ours")


def linear(sizes: Sizes) -> Iterator[Row]:
    """All shapes against the numpy loop, the refit and three libraries, per round and lane."""
    for shape in SHAPES:
        yield from _against_all(shape, linear_stream(shape, sizes.stream), sizes)


def _against_all(shape: str, stream: Stream, sizes: Sizes) -> Iterator[Row]:
    stream.simulate(stream.lanes(alphas=[ALPHA]))  # loads the kernels
    best = best_of(sizes.repeats, _costs(stream, sizes))
    note = _agreement(stream, min(2_000, sizes.loop_rounds))
    yield faster(shape, LOOP, best[ALL], best[LOOP], LOOP_TARGETS.get(shape), note)
    note = f"one refit at {sizes.observed:,} observed rows"
    yield faster(shape, RIDGE, best[ALL], best[RIDGE], Target(1e4), note)
    for name, rival in RIVALS.items():
        there, version = rival.available()
        note = f"{version}; against our `ours` alone" if there else f"not measured: {version}"
        yield faster(shape, name, best[OURS], best.get(name, math.nan), note=note)


def _costs(stream: Stream, sizes: Sizes) -> dict[str, Callable[[], float]]:
    """Return what measures each, in seconds per round (and lane)."""
    rows = (stream.X, stream.y)
    costs: dict[str, Callable[[], float]] = {
        ALL: partial(stream.cost, stream.lanes()),
        OURS: partial(stream.cost, stream.lanes(["ours"])),
        LOOP: partial(_loop_cost, stream, sizes.loop_rounds),
        RIDGE: partial(
            cpu_seconds, partial(sklearn_refit.refit_linear_cost, *rows, sizes.observed, repeats=1)
        ),
    }
    rule: dict[str, Any] = {"cutoff": stream.cutoff, "max_rounds": sizes.rival_rounds}
    for name, rival in RIVALS.items():
        options = rule if rival is vw_regcb else {**rule, "alpha": ALPHA}
        if rival.available()[0]:
            costs[name] = partial(_cost_of_round, rival.run, *rows, stream.n_initial, **options)
    return costs


def _cost_of_round(run: Callable[..., Any], *arguments: Any, **options: Any) -> float:
    """Return what a rival measured on the wall, less the share of time it had to wait."""
    outcomes: list[Any] = []
    share = cpu_share(lambda: outcomes.append(run(*arguments, **options)))
    return float(outcomes[0].seconds_per_round) * share


def _loop(stream: Stream, n_rounds: int, method: str) -> np.ndarray:
    """Return the decisions of the numpy loop in the first rounds."""
    n = min(stream.n_initial + n_rounds, len(stream.X))
    rule: dict[str, Any] = {"method": method, "alpha": ALPHA, "cutoff": stream.cutoff}
    return numpy_loop.run(stream.X[:n], stream.y[:n], stream.n_initial, **rule)


def _loop_cost(stream: Stream, n_rounds: int) -> float:
    time = cpu_seconds(lambda: [_loop(stream, n_rounds, method) for method in METHODS])
    return time / (len(METHODS) * min(n_rounds, stream.n_rounds))


def _agreement(stream: Stream, n_rounds: int) -> str:
    """Say how many decisions of the loop are not ours, and how many rows are accepted."""
    run = stream.simulate(stream.lanes(DRAWLESS, [ALPHA]), keep_decisions=True)
    assert run.decisions is not None
    differ = sum(
        int(np.sum(_loop(stream, n_rounds, method) != ours[:n_rounds]))
        for method, ours in zip(DRAWLESS, run.decisions, strict=True)
    )
    share = run.decisions.mean()
    return f"{differ} of {len(DRAWLESS) * n_rounds:,} decisions differ; {share:.0%} accepted"


def bound(sizes: Sizes) -> Iterator[Row]:
    """Time of the linear updates at d = 122 against their flops at the peak of one core."""
    stream = linear_stream(DENSE_122, sizes.stream)
    groups = {"seven methods": METHODS, "greedy alone": ("greedy",), "`ours` alone": ("ours",)}
    lanes = {name: stream.lanes(methods) for name, methods in groups.items()}
    work = {name: _flops(stream, chosen) for name, chosen in lanes.items()}
    costs = {name: partial(stream.seconds, chosen) for name, chosen in lanes.items()}
    peak = partial(flops.peak_flops, seconds=sizes.peak_seconds)
    best = best_of(sizes.repeats, {**costs, "peak": lambda: 1.0 / peak()})
    for name in lanes:
        least = flops.bound_seconds(work[name], 1.0 / best["peak"])
        note = f"peak {1e-9 / best['peak']:.0f} Gflop/s, ours {1e-9 * work[name] / best[name]:.1f}"
        target = Target(4, at_most=True) if name == "seven methods" else None
        ratio = best[name] / least
        yield Row(f"{DENSE_122}, {name}", "bound", ratio, best[name], least, "s", target, note)


def _flops(stream: Stream, lanes: list[Lane]) -> float:
    """Count the flops of the decisions that were really taken.

    A symmetric quadratic form takes d², half of what ``linear_update_flops`` counts for a width.
    """
    accepted = stream.simulate(lanes).accepted
    widths = sum(
        stream.n_rounds - int(n)
        for lane, n in zip(lanes, accepted, strict=True)
        if lane.method.uses_width
    )
    n_scored = stream.n_rounds * len(lanes)
    d, total = stream.X.shape[1], int(accepted.sum())
    return flops.linear_update_flops(d, n_width=widths // 2, n_accepted=total, n_scored=n_scored)


def sparse(sizes: Sizes) -> Iterator[Row]:
    """The sparse layout against the dense one on Adult's rows, linear link."""
    stream = linear_stream(ONE_HOT, sizes.stream)
    for name, methods in {"seven methods": METHODS, "`ours` alone": ("ours",)}.items():
        lanes = stream.lanes(methods)
        kinds = {kind: partial(stream.cost, lanes, sparse=kind) for kind in (True, False)}
        best = best_of(sizes.repeats, kinds)
        target = Target(1.5) if methods is METHODS else None
        yield faster(f"{ONE_HOT}, {name}", "dense layout", best[True], best[False], target)

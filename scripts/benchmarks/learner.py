"""The streaming learner: what a decision and its label cost whoever puts it into a system."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from rivals import river_bayes

from benchmarks.report import Row, Target, faster
from benchmarks.sizes import Sizes
from benchmarks.timing import best_of, cpu_seconds
from pipeline.core.engine import grid, simulate
from pipeline.core.lanes import Split
from pipeline.core.learner import OneSidedLearner
from pipeline.core.links import get_link
from pipeline.core.models.base import ModelSpec

ACCEPT_ALL = -1e9  # a cutoff
BATCH = 1_000
# Microseconds a round may take: by link and d.
LIMITS = {("linear", 10): 15.0, ("linear", 100): 20.0, ("logistic", 10): 40.0}
SEEN = (1_000, 5_000, 20_000)  # labels seen when a logistic round is measured


def learner(sizes: Sizes) -> Iterator[Row]:
    """One row a round beside river; logistic rounds by the labels seen; whole batches."""
    rounds = sizes.rival_rounds
    for d in (10, 100):
        X, y = _table(2 * d + rounds, d)
        costs = {"ours": partial(_cost, "linear", X, y, 2 * d, 1)}
        if river_bayes.available()[0]:
            costs["river"] = partial(_river, X, y, 2 * d)
        found = best_of(sizes.repeats, costs)
        if "river" in found:
            case, target = f"linear, d = {d}", Target(1.0)
            yield faster(case, "river", found["ours"], found["river"], target=target)
        yield _microseconds("linear", d, "a warm start", found["ours"])
    for seen in SEEN if sizes.cold else SEEN[:1]:
        X, y = _table(seen + rounds // 5, 10)
        for every in (1, 10):
            cost = best_of(sizes.repeats, {0: partial(_cost, "logistic", X, y, seen, every)})[0]
            yield _microseconds("logistic", 10, f"{seen:,} labels", cost, every)
    yield from _batches(sizes)


def _batches(sizes: Sizes) -> Iterator[Row]:
    for link in ("linear", "logistic"):
        X, y = _table(100 + 10 * BATCH, 10)
        costs = {
            "learner": partial(_cost, link, X, y, 100, 1, BATCH),
            "engine": partial(_engine, link, X, y, 100),
        }
        found = best_of(sizes.repeats, costs)
        ratio, target = found["learner"] / found["engine"], Target(1.3, at_most=True)
        times = (BATCH * found["learner"], BATCH * found["engine"])
        yield Row(f"{link}, d = 10, {BATCH:,} rows a round", "engine", ratio, *times, target=target)


def _microseconds(link: str, d: int, after: str, cost: float, every: int = 1) -> Row:
    limit = LIMITS.get((link, d)) if every == 1 and not after.startswith(("5", "20")) else None
    case = f"{link}, d = {d}, after {after}" + (f", refit_every={every}" if every > 1 else "")
    target = None if limit is None else Target(limit, at_most=True)
    return Row(case, "microseconds", 1e6 * cost, cost, target=target)


def _table(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(d)
    X = rng.standard_normal((n, d))
    return X, (X[:, 0] + rng.standard_normal(n) > 0).astype(np.float64)


def _cost(link: str, X: np.ndarray, y: np.ndarray, n: int, every: int, batch: int = 1) -> float:
    """Return the processor time a row; the first n are the warm start, all are accepted."""
    one = OneSidedLearner(link, "ours", ACCEPT_ALL, 0.1, refit_every=every).fit(X[:n], y[:n])
    return cpu_seconds(partial(_stream, one, X[n:], y[n:], batch)) / (len(X) - n)


def _stream(one: OneSidedLearner, X: np.ndarray, y: np.ndarray, batch: int) -> None:
    for first in range(0, len(X), batch):
        decision = one.decide(X[first : first + batch])
        one.learn(decision.ids, y[first : first + batch])


def _engine(link: str, X: np.ndarray, y: np.ndarray, n: int) -> float:
    rows, lanes = np.arange(len(X)), grid(["ours"], [0.1], [ACCEPT_ALL], 1)
    options = {"spec": ModelSpec(get_link(link)), "batch_size": BATCH, "sparse": False}
    work = partial(simulate, X, y, truth=y, splits=[Split(rows[:n], rows[n:])], lanes=lanes)
    return cpu_seconds(partial(work, **options)) / (len(X) - n)


def _river(X: np.ndarray, y: np.ndarray, n: int) -> float:
    done = river_bayes.run(X, y, n, alpha=0.1, cutoff=ACCEPT_ALL, max_rounds=len(X) - n)
    return done.seconds_per_round

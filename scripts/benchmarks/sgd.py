"""Algorithm 3 against the exact fit: the cost of a round as the number of columns grows."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from benchmarks.report import Row, Target, faster
from benchmarks.sizes import Sizes
from benchmarks.timing import best_of, cpu_seconds
from pipeline.core.learner import OneSidedLearner
from pipeline.core.methods import get_method
from pipeline.core.methods.sgd import Sgd

LARGEST = 1_000  # columns up to which `ours` is measured; its A alone takes 0.8 GB at 10,000
ACCEPT_ALL = -1e9  # a cutoff
# Bounds so small that every label moves β: the dearest round.
METHODS = {"sgd": Sgd(accuracy=1e-9, noise_bound=0.0), "ours": get_method("ours")}


def sgd(sizes: Sizes) -> Iterator[Row]:
    """`sgd` against `ours` at each d, then the growth of `sgd` from the second largest d."""
    costs: dict[int, float] = {}
    known: tuple[int, float] | None = None  # the largest d at which `ours` was measured
    for d in sizes.sgd_columns:
        names = ["sgd", "ours"] if d <= LARGEST or known is None else ["sgd"]
        n = 2 * min(d, LARGEST)  # a warm start that spans all columns: no width is extreme
        X = np.random.default_rng(d).standard_normal((n + sizes.sgd_rounds, d))
        found = best_of(sizes.repeats, {name: partial(cost, name, X, n) for name in names})
        costs[d], note = found["sgd"], ""
        if "ours" in found:
            known = (d, found["ours"])
        assert known is not None
        theirs = known[1] * (d / known[0]) ** 2
        if known[0] < d:
            note = f"`ours` extrapolated from d = {known[0]:,}"
        yield faster(f"d = {d:,}", "`ours`", found["sgd"], theirs, note=note)
    *_, before, last = costs
    ratio = costs[last] / costs[before]
    limit = Target(1.5 * last / before, at_most=True)
    case, versus = f"`sgd`, d = {last:,}", f"`sgd`, d = {before:,}"
    yield Row(case, versus, ratio, costs[last], costs[before], target=limit)


def cost(name: str, X: np.ndarray, n: int) -> float:
    """Return the processor time of a round; the first n rows are the warm start."""
    y = X[:, 0].copy()
    learner = OneSidedLearner(method=METHODS[name], cutoff=ACCEPT_ALL, fit_intercept=False)
    learner.fit(X[:n], y[:n])
    return cpu_seconds(partial(_decide_and_learn, learner, X[n:], y[n:])) / (len(X) - n)


def _decide_and_learn(learner: OneSidedLearner, X: np.ndarray, y: np.ndarray) -> None:
    for row in range(len(X)):
        decision = learner.decide(X[row : row + 1])
        learner.learn(decision.ids, y[row : row + 1])

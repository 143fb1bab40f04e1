"""river's BayesianLinearRegression as a one-sided learner with the rule of `ours`.

With prior alpha=1 and noise beta=1 the posterior is the ridge solution with l2 = 1, and its
predictive variance is 1 + x'A⁻¹x, so the same decisions come out. (Only l2 = 1 can be had: river
0.26 starts precision and covariance both at I/alpha, which are inverse to each other for 1 alone.)
"""

from __future__ import annotations

from math import sqrt
from time import perf_counter
from typing import Any

import numpy as np

from .outcome import Outcome
from .probe import probe


def available() -> tuple[bool, str]:
    """Is river there?"""
    return probe("river.linear_model", "river")


def run(
    X: np.ndarray,
    y: np.ndarray,
    n_initial: int,
    *,
    alpha: float,
    cutoff: float,
    max_rounds: int = 2000,
) -> Outcome:
    """At most `max_rounds` rounds after the warm start (not timed): predict_one, then learn_one."""
    from river.linear_model import BayesianLinearRegression

    model: Any = BayesianLinearRegression(alpha=1, beta=1)
    for features, label in zip(_dicts(X[:n_initial]), y[:n_initial].tolist(), strict=True):
        model.learn_one(features, label)
    stream = _dicts(X[n_initial : n_initial + max_rounds])
    accepted = np.zeros(len(stream), dtype=bool)
    start = perf_counter()
    for i, features in enumerate(stream):
        normal = model.predict_one(features, with_dist=True)
        width = sqrt(max(normal.sigma**2 - 1.0, 0.0))
        if normal.mu + alpha * width > cutoff:
            accepted[i] = True
            model.learn_one(features, float(y[n_initial + i]))
    return Outcome(accepted, (perf_counter() - start) / max(len(stream), 1))


def _dicts(X: np.ndarray) -> list[dict[int, float]]:
    """Rows as river wants them: a dict of the non-zero features (a missing one counts as 0)."""
    return [{int(j): float(row[j]) for j in np.flatnonzero(row)} for row in X]

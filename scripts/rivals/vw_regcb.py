"""Vowpal Wabbit, `--cb_explore_adf --regcb`: a contextual bandit with two actions.

"accept" has the row's features and costs -y, "reject" has one feature of its own and costs
-cutoff; VW gives probabilities, we draw the action, and VW learns from (action, cost,
probability). VW makes one online gradient step, O(d), not the ridge optimum: its time is that of a
different and weaker learner, and its decisions are not those of `ours`.
"""

from __future__ import annotations

from time import perf_counter

import numpy as np

from .outcome import Outcome
from .probe import probe

REJECT = "|r reject"


def available() -> tuple[bool, str]:
    """Is Vowpal Wabbit there, and does its library load?"""
    return probe("vowpalwabbit", "vowpalwabbit")


def run(
    X: np.ndarray,
    y: np.ndarray,
    n_initial: int,
    *,
    cutoff: float,
    max_rounds: int = 10_000,
    seed: int = 0,
    explore: str = "--regcb",
) -> Outcome:
    """At most `max_rounds` rounds after learning the initial rows as accepted ones (not timed)."""
    from vowpalwabbit import Workspace

    costs = "--cb_type mtr --cb_min_cost -1 --cb_max_cost 0"
    vw = Workspace(f"--cb_explore_adf {explore} {costs} --quiet")
    rows = [_text(x) for x in X[: n_initial + max_rounds]]
    for row, label in zip(rows[:n_initial], y[:n_initial], strict=True):
        vw.learn([f"0:{-label}:1 {row}", REJECT])
    stream = rows[n_initial:]
    draws = np.random.default_rng(seed).random(len(stream)).tolist()
    accepted = np.zeros(len(stream), dtype=bool)
    start = perf_counter()
    for i, row in enumerate(stream):
        p_accept, p_reject = vw.predict([row, REJECT])
        accepted[i] = accept = draws[i] < p_accept
        if accept:
            vw.learn([f"0:{-y[n_initial + i]}:{p_accept} {row}", REJECT])
        else:
            vw.learn([row, f"0:{-cutoff}:{p_reject} {REJECT}"])
    seconds = perf_counter() - start
    vw.finish()
    return Outcome(accepted, seconds / max(len(stream), 1))


def _text(x: np.ndarray) -> str:
    """A row in VW's text format, non-zero features only."""
    return "|x " + " ".join(f"{j}:{x[j]:.9g}" for j in np.flatnonzero(x))

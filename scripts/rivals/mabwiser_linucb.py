"""mabwiser's LinUCB as a one-sided learner.

mabwiser gives every arm the same context, so "reject" cannot have a fixed context of its own.
Two mappings a user would pick:

- `mapping="one_arm"` (default): the arm "accept" only; its upper bound x'beta + alpha·width is
  compared with the cutoff, and partial_fit runs on accepted rows. Same decisions as `ours`, and the
  cheaper of the two, so the fair one to compare with.
- `mapping="two_arms"`: "accept" is rewarded with the label, "reject" with the cutoff at the same
  context; predict chooses, partial_fit runs every round. The bonus of "reject" biases the choice.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from .outcome import Outcome
from .probe import probe

ARMS = {"one_arm": ["accept"], "two_arms": ["accept", "reject"]}


def available() -> tuple[bool, str]:
    """Is mabwiser there?"""
    return probe("mabwiser.mab", "mabwiser")


def run(
    X: np.ndarray,
    y: np.ndarray,
    n_initial: int,
    *,
    alpha: float,
    cutoff: float,
    max_rounds: int = 1000,
    l2: float = 1.0,
    mapping: str = "one_arm",
) -> Outcome:
    """At most `max_rounds` rounds after one fit on the initial rows (not timed)."""
    from mabwiser.mab import MAB, LearningPolicy

    mab = MAB(ARMS[mapping], LearningPolicy.LinUCB(alpha=alpha, l2_lambda=l2))
    mab.fit(["accept"] * n_initial, y[:n_initial], X[:n_initial])
    if mapping == "two_arms":
        mab.partial_fit(["reject"] * n_initial, np.full(n_initial, cutoff), X[:n_initial])
    step = _one_arm_round if mapping == "one_arm" else _two_arm_round
    stop = min(n_initial + max_rounds, len(X))
    start = perf_counter()
    accepted = [step(mab, X[i : i + 1], y[i : i + 1], cutoff) for i in range(n_initial, stop)]
    seconds = perf_counter() - start
    return Outcome(np.array(accepted, dtype=bool), seconds / max(len(accepted), 1))


def _one_arm_round(mab: Any, x: np.ndarray, label: np.ndarray, cutoff: float) -> bool:
    """Accept if the arm's upper confidence bound is above the cutoff; learn only then."""
    accept = bool(mab.predict_expectations(x)["accept"] > cutoff)
    if accept:
        mab.partial_fit(["accept"], label, x)
    return accept


def _two_arm_round(mab: Any, x: np.ndarray, label: np.ndarray, cutoff: float) -> bool:
    """Play the arm with the larger bound; a rejection pays the cutoff."""
    arm = mab.predict(x)
    reward = label if arm == "accept" else np.array([cutoff])
    mab.partial_fit([arm], reward, x)
    return bool(arm == "accept")

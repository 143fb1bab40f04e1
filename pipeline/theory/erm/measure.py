"""The alternative greedy, which minimises the empirical one-sided loss: how often it loses a group.

Appendix B: rows come in groups orthogonal to each other, so each group is decided by itself, and it
is lost where the mean of its labels is below the cutoff. With t labels y ~ N(c + τ, σ²) that has
the probability Φ(−τ√t/σ), which is measured here; Appendix B prints "> 1/5" at τ = 1/√t, σ = 1.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from pipeline.core.learner import OneSidedLearner
from pipeline.theory.estimates import FloatArray, ends, share_interval
from pipeline.theory.experiment import Measured, results_of
from pipeline.theory.trap.measure import Runs, gather, row_of

EXPERIMENTS = ("greedy_trap_erm",)
OPTIONS = {"groups": "orthogonal groups of each measurement"}
PRINTED = 0.2  # of Appendix B: P(a group is lost) > 1/5
SIZES = (4, 9, 16, 100)  # t, labels of a group
MARGINS = (0.25, 0.5, 1.0, 1.5, 2.0)  # τ√t/σ
CUTOFF, NOISE = 0.5, 1.0  # c and σ
TOGETHER = 20  # groups that one learner has


def measure(options: argparse.Namespace) -> Measured[Runs]:
    """Measure the share of groups lost, and run the trap."""
    every = gather([r for name in EXPERIMENTS for r in results_of(name, options.overrides)])
    trap = pd.DataFrame([row_of(runs) for runs in every])
    return Measured({"erm": groups_table(options.groups), "erm_trap": trap}, every)


def said(found: Measured[Runs]) -> Iterator[str]:
    """Yield a line for each t where τ√t/σ = 1, and for each method in the trap."""
    groups = found.tables["erm"]
    for row in groups[groups["margin"] == 1.0].to_dict("records"):
        yield (
            f"t = {row['t']}, τ√t/σ = 1: lost {row['share']:.3f} of the groups "
            f"({row['low']:.3f} to {row['high']:.3f}), exact {row['exact']:.3f}"
        )
    for row in found.tables["erm_trap"].to_dict("records"):
        yield f"{row['method']}: v lost in {row['lost']} of {row['runs']} runs"


def groups_table(groups: int) -> pd.DataFrame:
    """Return the share of groups lost beside Φ(−τ√t/σ), a line for each t and τ√t/σ."""
    return pd.DataFrame([_row(t, margin, groups) for t in SIZES for margin in MARGINS])


def _row(t: int, margin: float, groups: int) -> dict[str, Any]:
    lost = lost_groups(t, margin, groups)
    return {
        "t": t,
        "margin": margin,
        "groups": groups,
        "lost": lost,
        "share": lost / groups,
        **ends(share_interval(lost, groups)),
        "exact": failure_probability(margin),
        "printed_bound": printed_bound(margin),
    }


def lost_groups(t: int, margin: float, groups: int) -> int:
    """Return how many orthogonal groups ``method=erm`` rejects after t labels of each.

    Labels are N(c + τ, σ²) with τ√t/σ = margin. A group that is rejected gets no label any more,
    so it is lost for ever.
    """
    lost = 0
    for first in range(0, groups, TOGETHER):
        vectors = np.eye(min(TOGETHER, groups - first))
        learner = OneSidedLearner(method="erm", cutoff=CUTOFF, fit_intercept=False)
        learner.fit(np.tile(vectors, (t, 1)), labels(t, margin, first, len(vectors)))
        lost += int((~learner.decide(vectors).accepted).sum())
    return lost


def labels(t: int, margin: float, first: int, groups: int) -> FloatArray:
    """Return t labels of each group, the groups in turn; they are those of t, margin and first."""
    rng = np.random.default_rng([t, round(100 * margin), first])
    return rng.normal(CUTOFF + margin * NOISE / np.sqrt(t), NOISE, size=t * groups)


def failure_probability(margin: float) -> float:
    """Return Φ(−τ√t/σ), the probability that Σ (y − c) < 0."""
    return float(stats.norm.cdf(-margin))


def printed_bound(margin: float) -> float:
    """Return (1/2π)·√tστ/(tτ² + σ²)·exp(−tτ²/2σ²) of Appendix B, in m = τ√t/σ."""
    return float(margin / (margin**2 + 1) * np.exp(-0.5 * margin**2) / (2 * np.pi))


def lost_by_both(every: Sequence[Runs], methods: tuple[str, str]) -> int | None:
    """Return in how many runs two methods both lost v; None where one of them did not run.

    Their runs are in the same order, that of the seeds of the data.
    """
    found = {runs.key[1]: runs.missed > 0 for runs in every}
    if not set(methods) <= set(found):
        return None
    one, other = (found[method] for method in methods)
    return int((one & other).sum())

"""How long Algorithm 2 with its constants accepts everything, and when Theorem 2 says anything.

Both are computed from the constants; the first is measured as well where a run can be that long.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import cast

import numpy as np
from scipy.optimize import brentq

from pipeline.cells.cell import Cell
from pipeline.cells.problem import problem_of
from pipeline.core.engine import simulate
from pipeline.core.lanes import Lane
from pipeline.core.learner import TimeUnit
from pipeline.core.methods import Setting
from pipeline.core.methods.ours_log import OursLog
from pipeline.core.methods.ours_theory import OursTheory
from pipeline.data.sources import Settings
from pipeline.theory.coverage.confidence import loss_bound, setting_of, theory_of

LONGEST = 1e15  # rounds: where a root is looked for


def first_rejected(cell: Cell, data: Settings, n: int, seed: int) -> int | None:
    """Return the first round t ≥ 2 that rejects a row, in a run over n rows; None if none does.

    The bonus is that of ``ours_log`` with all of ρ_t but sqrt(log t) in its alpha. That method is
    compiled, and differs only where a fit leaves the ball ‖β‖ ≤ M and would be projected.
    """
    dataset = {**cell.dataset, "seed": seed, "n": n}
    problem = problem_of(replace(cell, dataset=dataset, splits=(0,)), data)
    setting = setting_of(cell, problem)
    known = replace(theory_of(cell), horizon=n)
    lane = Lane(OursLog(), known.coefficient(1.0, setting), setting.cutoff, 0)
    found = simulate(
        *(problem.dataset.X, problem.dataset.y),
        truth=problem.truth,
        splits=problem.splits,
        lanes=[lane],
        spec=problem.spec,
        batch_size=cell.setting.batch_size,
        time=cast(TimeUnit, cell.setting.time),
        keep_decisions=True,
    )
    assert found.decisions is not None
    rounds = np.flatnonzero(~found.decisions[0]) // cell.setting.batch_size + 1
    later = rounds[rounds >= 2]
    return int(later[0]) if len(later) else None


def first_rejection(
    method: OursTheory, setting: Setting, coef_norm: float, n_initial: int
) -> float:
    """Return the T from which a run of T rounds can reject anything, ‖x‖ = 1 uniform.

    Until then all rows are accepted, so A is about (K + NT)/d·I and β_T about β*. The row most
    clearly below the cutoff is −β*/‖β*‖: rejected where μ(−‖β*‖) + ρ_T·sqrt(d/(K + NT)) < c.
    """
    d, N = setting.n_columns, method.batch_size
    lowest = setting.link.mean(-coef_norm)

    def excess(T: float) -> float:
        rho = replace(method, horizon=cast(int, T)).rho(T, setting)
        return lowest + rho * math.sqrt(d / (n_initial + N * T)) - setting.cutoff

    return least_root(excess)


def bound_says_something(
    method: OursTheory, setting: Setting, n_initial: int, loss_a_round: float
) -> float:
    """Return the T from which Theorem 2's bound is below the loss of accepting every row."""

    def excess(T: float) -> float:
        bound = loss_bound(method, setting, T, n_initial)
        return math.inf if math.isnan(bound) else bound / T - loss_a_round

    return least_root(excess)


def least_root(excess: Callable[[float], float]) -> float:
    """Return where a function of T falls to 0; infinite where it does not up to 10¹⁵."""
    grid = np.geomspace(2.0, LONGEST, 200)
    high = next((T for T in grid if excess(T) <= 0.0), None)
    if high is None:
        return math.inf
    low = grid[max(0, np.searchsorted(grid, high) - 1)]
    return float(brentq(excess, low, high)) if low < high else float(high)

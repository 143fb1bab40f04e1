"""Algorithm 2 with its constants, followed round by round, and what is computed from them.

For all x and t ≥ 2, |μ(x'β*) − μ(x'β_t)| ≤ ρ_t(δ)·sqrt(x'A⁻¹x) with probability 1 − δ (Lemma 5).
The largest quotient of both sides over all x ≠ 0 is L·‖β_t − β*‖_A: by Cauchy-Schwarz it cannot be
larger, and small multiples of x = A(β_t − β*) come as near as one likes, as the links here are
steepest at 0. So the statement holds for every x at once where L·‖β_t − β*‖_A ≤ ρ_t.

How long the algorithm accepts everything, and from when Theorem 2 says anything, follows from the
constants; the first is measured as well where a run can be that long.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from pipeline.cells.cell import Cell
from pipeline.cells.problem import Problem, problem_of
from pipeline.core.engine import simulate
from pipeline.core.lanes import Lane
from pipeline.core.learner import OneSidedLearner, TimeUnit
from pipeline.core.methods import Setting
from pipeline.core.methods.ours import OursLog
from pipeline.core.methods.ours_theory import OursTheory
from pipeline.data.sources import Settings
from pipeline.paper.estimates import FloatArray

LONGEST = 1e15  # rounds: where a root is looked for


@dataclass(frozen=True)
class Followed:
    """One run of Algorithm 2.

    Attributes:
        needed: L·‖β_t − β*‖_A in rounds 1…T: what ρ_t has to be for the statement to hold.
        rho: ρ_t.
        accepted: each decision.
    """

    needed: FloatArray
    rho: FloatArray
    accepted: NDArray[np.bool_]

    @property
    def worst(self) -> float:
        """Return the largest needed/ρ_t over t ≥ 2: the statement holds up to 1."""
        return float((self.needed[1:] / self.rho[1:]).max())


def theory_of(cell: Cell) -> OursTheory:
    """Return the method with its constants; refuse any other."""
    if not isinstance(cell.method, OursTheory):
        raise ValueError(f"method {cell.method.name} has no ρ_t: choose method=ours_theory")
    return cell.method


def setting_of(cell: Cell, problem: Problem) -> Setting:
    """Return what the constants depend on beside the method's parameters."""
    n_columns = problem.dataset.X.shape[1] + problem.spec.fit_intercept
    return Setting(problem.spec.link, n_columns, problem.cutoff_value(cell.cutoff))


def follow(cell: Cell, data: Settings, seed: int) -> Followed:
    """Run Algorithm 2 on data drawn anew with that seed, and compare β_t with β*."""
    fresh = replace(cell, dataset={**cell.dataset, "seed": seed}, splits=(0,))
    return follow_problem(fresh, problem_of(fresh, data))


def follow_problem(cell: Cell, problem: Problem) -> Followed:
    """Run Algorithm 2 over the first split of a problem whose β* is known."""
    method, split, dataset = theory_of(cell), problem.splits[0], problem.dataset
    setting, beta = setting_of(cell, problem), dataset.beta
    if beta is None:
        raise ValueError(f"dataset {dataset.name} has no known β*: choose dataset=glm")
    X, y, size = dataset.X, dataset.y, cell.setting.batch_size
    A = X[split.initial].T @ X[split.initial]
    _check_premises(method, X, beta, A)
    learner = OneSidedLearner(
        method=method,
        cutoff=setting.cutoff,
        alpha=1.0,
        time=cast(TimeUnit, cell.setting.time),
        **vars(problem.spec),
    ).fit(X[split.initial], y[split.initial])
    needed, rho, accepted = [], [], []
    for t, first in enumerate(range(0, len(split.stream), size), start=1):
        off = learner.coef_ - beta
        needed.append(setting.link.lipschitz * math.sqrt(off @ A @ off))
        rho.append(method.rho(t, setting))
        rows = split.stream[first : first + size]
        decision = learner.decide(X[rows])
        taken = rows[decision.accepted]
        learner.learn(decision.ids, y[taken])
        A += X[taken].T @ X[taken]
        accepted.append(decision.accepted)
    return Followed(np.array(needed), np.array(rho), np.concatenate(accepted))


def _check_premises(method: OursTheory, X: FloatArray, beta: FloatArray, A: FloatArray) -> None:
    """Refuse a run whose constants bound nothing."""
    slack = 1.0 + 1e-12
    found = {
        "feature_bound": (np.linalg.norm(X, axis=1).max(), method.feature_bound * slack),
        "coef_bound": (np.linalg.norm(beta), method.coef_bound * slack),
        "min_eigenvalue": (method.min_eigenvalue, np.linalg.eigvalsh(A)[0] * slack),
    }
    for name, (low, high) in found.items():
        if low > high:
            raise ValueError(f"method.{name} is no bound on these data: {low:.4g} > {high:.4g}")


def loss_bound(method: OursTheory, setting: Setting, T: float, n_initial: int) -> float:
    """Return what the proof of Theorem 2 ends with, the constants written out.

    C·K + 2ρ_T·sqrt(TN)·sqrt(2dNs·log((λ₀ + B²NT)/(dλ₀))), s = min(N, d). NaN where the logarithm
    is negative: the printed trace of A leaves out all but λ₀ of the initial rows.
    """
    known = replace(method, horizon=cast(int, T))
    N, d = method.batch_size, setting.n_columns
    ratio = (method.min_eigenvalue + method.feature_bound**2 * N * T) / (d * method.min_eigenvalue)
    if ratio < 1.0:
        return math.nan
    widths = math.sqrt(2 * d * N * min(N, d) * math.log(ratio))
    start = known.response_bound(setting) * n_initial
    return start + 2.0 * known.rho(T, setting) * math.sqrt(T * N) * widths


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

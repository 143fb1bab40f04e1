"""The β that solves Σ x (y − μ(x'β)) = penalty∘β, after every batch, to the true optimum.

That β minimises a convex function f whose gradient is g(β) = penalty∘β + Σ x (μ(x'β) − y) and
whose Hessian is diag(penalty) + Σ μ'(x'β) x x'. A fresh Hessian costs several gradients, so it is
not computed in every round: each row enters ``H`` with the slope it had when it was learned, and
H starts a quasi-Newton iteration (L-BFGS; Nocedal & Wright 2006, algorithm 7.4) that needs
gradients only. Where that stalls, Newton's method with the true Hessian and a line search on the
derivative takes over; it converges from anywhere, separable classes included.

The iteration stops when a step changes no x'β of a learned row by more than a tolerance, whatever
the scale of the columns. Where no optimum exists (separable classes without penalty) such a step
never comes: the gradient vanishes, but x'β goes on growing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.core.kernels.cholesky import factor, solve
from pipeline.core.kernels.jit import jit
from pipeline.core.kernels.rows import FloatArray, add_outer, add_scaled, dot

# Largest change of any x'β in the last step.
TOLERANCE = 1e-10
# Newton's last step may be larger, because the error after it is of the order of its square.
NEWTON_TOLERANCE = 1e-6
# Rounding in the gradient of badly scaled columns can keep the change above the tolerance; one
# below this that no longer falls is as good as the arithmetic gets. Where every row is so certain
# that residuals have lost their digits, even larger changes go on for ever, and do not matter.
ROUNDING_FLOOR = 1e-3
CERTAIN_FLOOR = 0.1
# A Newton step from a place where all slopes vanish can be of any length. It is cut to this change,
# and twice the largest |x'β|.
LONGEST_CHANGE = 10.0
# The decrement at which the change is first looked at.
GATE = 1e-9
MEMORY = 8
BLOCK = 64
N_VECTORS = 4
STEP, TRIAL, FRESH, REST = range(N_VECTORS)
QUASI_NEWTON_STEPS = 12
# When a refit takes more passes over the rows than this, H is computed afresh for the next one.
STALE_AFTER = 5
NEWTON_STEPS = 1000
# Where an optimum need not exist, so many steps in a row that do not shrink run away to infinity.
STALLED_STEPS = 20
LINE_SEARCH_STEPS = 50
# Places of the counts, after those of the inverse: passes of the last refit, rows it saw.
REFIT_PASSES, FITTED = 4, 5


class Fit(NamedTuple):
    """State of the solver: the coefficients, the gradient there, the accumulated Hessian, the link.

    The rest is scratch space: the factor of H, vectors, the memory of the quasi-Newton steps, and
    what was before the last refit. The linear link has no solver: its Fit is ``()``.
    """

    beta: FloatArray
    gradient: FloatArray
    H: FloatArray
    penalty: FloatArray
    counts: NDArray[np.int64]
    L: FloatArray
    vectors: FloatArray
    S: FloatArray
    Y: FloatArray
    scalars: FloatArray
    block: FloatArray
    before: FloatArray
    mean: Any
    slope: Any


@jit
def inner(a, b):
    """Return a'b."""
    total = 0.0
    for j in range(a.shape[0]):
        total += a[j] * b[j]
    return total


@jit
def through_link(rows, ids, first, last, beta, link, block):
    """Set block[1] to link(x'β) for rows ids[first:last]."""
    z = block[0]
    for k in range(first, last):
        z[k - first] = dot(rows, ids[k], beta)
    link(z, block[1], last - first)


@jit
def add_gradient(rows, ids, first, last, y, beta, fit, out):
    """Add Σ x (μ(x'β) − y) over rows ids[first:last]."""
    block = fit.block
    while first < last:
        end = min(first + block.shape[1], last)
        through_link(rows, ids, first, end, beta, fit.mean, block)
        for k in range(first, end):
            add_scaled(rows, ids[k], block[1, k - first] - y[ids[k]], out)
        first = end


@jit
def add_hessian(rows, ids, first, last, fit):
    """Add Σ μ'(x'β) x x' over rows ids[first:last] to H."""
    block = fit.block
    while first < last:
        end = min(first + block.shape[1], last)
        through_link(rows, ids, first, end, fit.beta, fit.slope, block)
        for k in range(first, end):
            add_outer(rows, ids[k], block[1, k - first], fit.H)
        first = end


@jit
def full_gradient(rows, ids, n, y, beta, fit, out):
    """Set out = g(β) over the first n ids."""
    for j in range(beta.shape[0]):
        out[j] = fit.penalty[j] * beta[j]
    add_gradient(rows, ids, np.int64(0), n, y, beta, fit, out)


@jit
def _direction(fit, pairs, step):
    """Set step = −B g, B the quasi-Newton inverse Hessian that starts from (LL')⁻¹."""
    d = step.shape[0]
    S, Y, rho, weight = fit.S, fit.Y, fit.scalars[0], fit.scalars[1]
    q = fit.vectors[REST]
    for j in range(d):
        q[j] = fit.gradient[j]
    oldest = max(0, pairs - MEMORY)
    for p in range(pairs - 1, oldest - 1, -1):
        slot = p % MEMORY
        weight[slot] = rho[slot] * inner(S[slot], q)
        for j in range(d):
            q[j] -= weight[slot] * Y[slot, j]
    solve(fit.L, q, step)
    for p in range(oldest, pairs):
        slot = p % MEMORY
        change = weight[slot] - rho[slot] * inner(Y[slot], step)
        for j in range(d):
            step[j] += change * S[slot, j]
    for j in range(d):
        step[j] = -step[j]


@jit
def _change(rows, ids, n, step):
    """Return the largest |x'step| of a learned row."""
    change = 0.0
    for k in range(n):
        change = max(change, abs(dot(rows, ids[k], step)))
    return change


@jit
def _move(fit, trial):
    """Take the last step; the gradient there is 0 within tolerance."""
    for j in range(trial.shape[0]):
        fit.beta[j] = trial[j]
        fit.gradient[j] = 0.0


@jit
def _quasi_newton(rows, ids, n, y, fit):
    """Iterate with gradients only; True once at the optimum, False if progress is slow.

    The Newton decrement λ = sqrt(g'H⁻¹g) falls by a factor that itself falls, and changes fall with
    it. So when change·(λ/last λ) is within tolerance, the step is taken without another pass. The
    change costs a third of a pass: it is looked at when λ says that the end is near.
    """
    d = fit.beta.shape[0]
    S, Y, rho = fit.S, fit.Y, fit.scalars[0]
    step, trial, fresh = fit.vectors[STEP], fit.vectors[TRIAL], fit.vectors[FRESH]
    pairs = np.int64(0)
    last = 0.0
    for _ in range(QUASI_NEWTON_STEPS):
        _direction(fit, pairs, step)
        start = inner(fit.gradient, step)
        decrement = max(-start, 0.0) ** 0.5
        for j in range(d):
            trial[j] = fit.beta[j] + step[j]
        fit.counts[REFIT_PASSES] = pairs
        ratio = min(1.0, decrement / last) if last > 0.0 else 1.0
        if decrement * ratio <= GATE and _change(rows, ids, n, step) * ratio <= TOLERANCE:
            _move(fit, trial)
            return True
        last = decrement
        full_gradient(rows, ids, n, y, trial, fit, fresh)
        if not abs(inner(fresh, step)) <= -0.5 * start:
            return False
        slot = pairs % MEMORY
        for j in range(d):
            S[slot, j] = step[j]
            Y[slot, j] = fresh[j] - fit.gradient[j]
            fit.beta[j] = trial[j]
            fit.gradient[j] = fresh[j]
        rho[slot] = 1.0 / inner(S[slot], Y[slot])
        pairs += 1
    return False


@jit
def _line_search(rows, ids, n, y, fit, step, start, trial, fresh):
    """Find a point along the step where the derivative of f has fallen to half, and evaluate it.

    f is convex, so its derivative along the step rises from ``start`` < 0; a full step that has
    not overshot is taken, else the interval is narrowed by safeguarded secants.
    """
    low, at_low, high, at_high = 0.0, start, 1.0, 0.0
    length = 1.0
    for attempt in range(LINE_SEARCH_STEPS):
        for j in range(trial.shape[0]):
            trial[j] = fit.beta[j] + length * step[j]
        full_gradient(rows, ids, n, y, trial, fit, fresh)
        here = inner(fresh, step)
        if abs(here) <= -0.5 * start or (attempt == 0 and here <= 0.0):
            return
        if here > 0.0:
            high, at_high = length, here
        else:
            low, at_low = length, here
        share = -at_low / (at_high - at_low)
        length = low + min(max(share, 0.1), 0.9) * (high - low)


@jit
def _fresh_hessian(rows, ids, n, fit):
    """Set H to the true Hessian at β over ids[:n]."""
    for j in range(fit.beta.shape[0]):
        for k in range(j):
            fit.H[j, k] = 0.0
        fit.H[j, j] = fit.penalty[j]
    add_hessian(rows, ids, np.int64(0), n, fit)


@jit
def _may_diverge(fit, ids, n, y):
    """Tell whether β can be without bound: a feature is not penalised, or there is but one class.

    The last column may be the constant, which one other class keeps in bounds.
    """
    d = fit.beta.shape[0]
    for j in range(d - 1):
        if fit.penalty[j] <= 0.0:
            return True
    if fit.penalty[d - 1] > 0.0:
        return False
    for k in range(1, n):
        if y[ids[k]] != y[ids[0]]:
            return d == 1
    return True


@jit
def _newton(rows, ids, n, y, fit):
    """Newton's method with the true Hessian and a line search. True once at the optimum."""
    d = fit.beta.shape[0]
    step, trial, fresh = fit.vectors[STEP], fit.vectors[TRIAL], fit.vectors[FRESH]
    last = np.inf
    stalled = 0
    for _ in range(NEWTON_STEPS):
        _fresh_hessian(rows, ids, n, fit)
        factor(fit.H, fit.penalty, fit.L)
        solve(fit.L, fit.gradient, step)
        change = _change(rows, ids, n, step)
        longest = LONGEST_CHANGE + 2.0 * _change(rows, ids, n, fit.beta)
        length = longest / change if change > longest else 1.0
        for j in range(d):
            step[j] *= -length
            trial[j] = fit.beta[j] + step[j]
        stalled = stalled + 1 if change > 0.5 * last else 0
        settled = change <= ROUNDING_FLOOR and stalled > 0
        certain = change <= CERTAIN_FLOOR and stalled >= STALLED_STEPS
        if change <= NEWTON_TOLERANCE or settled or certain:
            _move(fit, trial)
            return True
        if stalled >= STALLED_STEPS and _may_diverge(fit, ids, n, y):
            return False
        last = change
        start = inner(fit.gradient, step)
        _line_search(rows, ids, n, y, fit, step, start, trial, fresh)
        for j in range(d):
            fit.beta[j] = trial[j]
            fit.gradient[j] = fresh[j]
    return False


@jit
def refit(rows, ids, n_old, n, y, fit):
    """Move to the optimum over ids[:n], given the optimum over ids[:n_old]. False if not found."""
    add_gradient(rows, ids, n_old, n, y, fit.beta, fit, fit.gradient)
    if fit.counts[REFIT_PASSES] > STALE_AFTER:
        _fresh_hessian(rows, ids, n, fit)
    else:
        add_hessian(rows, ids, n_old, n, fit)
    factor(fit.H, fit.penalty, fit.L)
    if _quasi_newton(rows, ids, n, y, fit):
        return True
    return _newton(rows, ids, n, y, fit)

"""The kernels of one lane: score a row, add the bonus, decide, learn what was accepted.

The streaming learner calls them round by round; the engine runs a whole stream in one call.
A label is read in :func:`learn` only, which is given accepted rows only.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pipeline.core.kernels import inverse as inv
from pipeline.core.kernels.draws import fill_draws
from pipeline.core.kernels.inverse import Inverse
from pipeline.core.kernels.jit import inlined, jit
from pipeline.core.kernels.rows import FloatArray, add_scaled_exactly, dot, symmetric_times
from pipeline.core.kernels.solver import Fit, refit

DONE, NOT_CONVERGED, NAN_BONUS, BAD_LABEL = range(4)


class State(NamedTuple):
    """All that a GLM knows.

    ``seen`` gives the width. It is ``learned`` itself, unless A grows at acceptance (Algorithm 2),
    before the label is there.
    """

    fit: Fit
    learned: Inverse
    seen: Inverse
    moment: FloatArray
    carry: FloatArray
    scratch: FloatArray


class Kind(NamedTuple):
    """What kind of GLM it is, for the kernels."""

    linear: bool
    binary: bool
    contrast: bool
    at_acceptance: bool


class Rule(NamedTuple):
    """One method at work: everything but its bonus function."""

    alpha: float
    cutoff: float
    key: int
    n_draws: int
    uses_width: bool
    accepts_ties: bool
    in_examples: bool


@inlined
def score_row(state, rows, i, kind, mean):
    """Return the score of a row: μ(x'β), or 2μ − ½ on the contrast scale."""
    value = dot(rows, i, state.fit.beta)
    if not kind.linear:
        block = state.fit.block
        block[0, 0] = value
        mean(block[0], block[1], 1)
        value = block[1, 0]
    return 2.0 * value - 0.5 if kind.contrast else value


@inlined
def bonus_of(score, width, round_, example, rule, bonus, draws):
    """Return what the method adds to the score in round ``round_`` (from 0)."""
    if rule.n_draws > 0:
        fill_draws(rule.key, example, draws)
    t = example + 1.0 if rule.in_examples else round_ + 1.0
    return bonus(t, rule.alpha, score, width, draws)


@inlined
def passes(score, bonus, rule):
    """Accept when score + bonus > cutoff (≥ where the method accepts ties)."""
    total = score + bonus
    return total > rule.cutoff or (rule.accepts_ties and total == rule.cutoff)


@inlined
def grow_seen(state, rows, i):
    """Let A grow at acceptance."""
    s = inv.apply(state.seen, rows, i, state.scratch)
    inv.grow(state.seen, rows, i, state.scratch, s)


@jit
def solve_ridge(state):
    """Set β = A⁻¹ Σ x y with one step of iterative refinement; A⁻¹ must be fresh."""
    A, b, beta = state.learned, state.moment, state.fit.beta
    residual = state.scratch
    for j in range(beta.shape[0]):
        beta[j] = 0.0
        residual[j] = 0.0
    symmetric_times(A.P, b, beta)
    symmetric_times(A.A, beta, residual)
    for j in range(beta.shape[0]):
        residual[j] = b[j] - residual[j]
    symmetric_times(A.P, residual, beta)


@inlined
def _learn_one(state, rows, i, y, kind):
    """Rank-one update of A⁻¹ and, for the linear link, of β: β += A⁻¹x (y − x'β)/(1 + x'A⁻¹x)."""
    u = state.scratch
    s = inv.apply(state.learned, rows, i, u)
    if kind.linear:
        beta = state.fit.beta
        step = (y[i] - dot(rows, i, beta)) / (1.0 + s)
        for j in range(u.shape[0]):
            beta[j] += step * u[j]
        add_scaled_exactly(rows, i, y[i], state.moment, state.carry)
    fresh = inv.grow(state.learned, rows, i, u, s)
    if fresh and kind.linear:
        solve_ridge(state)


@jit
def _learn_many(state, rows, ids, n_old, n, y, kind):
    """Add many rows to A and invert it once. False if A is singular."""
    inv.add_rows(state.learned, rows, ids, n_old, n)
    regular = inv.refactorise(state.learned)
    if kind.linear:
        for k in range(n_old, n):
            add_scaled_exactly(rows, ids[k], y[ids[k]], state.moment, state.carry)
        solve_ridge(state)
    return regular


@jit
def warm_start(state, rows, ids, y, kind, mean, slope):
    """Learn the first rows of all. Returns (A is regular, the fit converged)."""
    none, n = np.int64(0), ids.shape[0]
    if not _learn_many(state, rows, ids, none, n, y, kind):
        return False, False
    return True, kind.linear or refit(rows, ids, none, n, y, state.fit, mean, slope)


@inlined
def learn(state, rows, ids, n_old, n, y, kind, mean, slope, keep_inverse):
    """Learn rows ids[n_old:n], whose labels have arrived. False if the fit does not converge."""
    if kind.linear or keep_inverse:
        if n - n_old > state.moment.shape[0]:
            _learn_many(state, rows, ids, n_old, n, y, kind)
        else:
            for k in range(n_old, n):
                _learn_one(state, rows, ids[k], y, kind)
    if kind.linear or n == n_old:
        return True
    return refit(rows, ids, n_old, n, y, state.fit, mean, slope)


@jit
def run_lane(
    rows, y, n_initial, batch, delay, state, kind, rule, bonus, mean, slope, draws, ids, accepted
):
    """Run a stream: rows after the first ``n_initial``, in rounds of ``batch``.

    Fills ``accepted`` and returns a status. The labels of round r arrive after the decisions of
    round r + delay. ``ids`` has room for all rows; its first ``n_initial`` are
    set. ``draws`` has room for the draws of one example.
    """
    n_stream = accepted.shape[0]
    n_rounds = (n_stream + batch - 1) // batch
    keep_inverse = rule.uses_width and not kind.at_acceptance
    n_learned = n_initial
    for r in range(n_rounds):
        for e in range(r * batch, min((r + 1) * batch, n_stream)):
            i = n_initial + e
            score = score_row(state, rows, i, kind, mean)
            width = np.nan
            if rule.uses_width:
                width = inv.square_width(state.seen, rows, i) ** 0.5
            extra = bonus_of(score, width, r, e, rule, bonus, draws)
            if np.isnan(extra):
                return NAN_BONUS
            accepted[e] = passes(score, extra, rule)
            if accepted[e] and kind.at_acceptance:
                grow_seen(state, rows, i)
        due = r - delay
        if due < 0:
            continue
        n_new = n_learned
        for e in range(due * batch, min((due + 1) * batch, n_stream)):
            if accepted[e]:
                label = y[n_initial + e]
                if not np.isfinite(label) or (kind.binary and label * (1.0 - label) != 0.0):
                    return BAD_LABEL
                ids[n_new] = n_initial + e
                n_new += 1
        if not learn(state, rows, ids, n_learned, n_new, y, kind, mean, slope, keep_inverse):
            return NOT_CONVERGED
        n_learned = n_new
    return DONE


@jit
def _copy(target, source):
    """Copy an array of any shape."""
    to, of = target.reshape(target.size), source.reshape(source.size)
    for k in range(to.shape[0]):
        to[k] = of[k]


@jit
def _copy_inverse(target, source):
    _copy(target.A, source.A)
    _copy(target.carry, source.carry)
    _copy(target.P, source.P)
    _copy(target.U, source.U)
    _copy(target.V, source.V)
    _copy(target.pending, source.pending)
    _copy(target.stacked, source.stacked)
    _copy(target.recent, source.recent)
    _copy(target.G, source.G)
    _copy(target.drift, source.drift)


@jit
def reset(state, warm, kind):
    """Bring a state back to the warm start, scratch space aside."""
    _copy(state.fit.beta, warm.fit.beta)
    _copy(state.fit.gradient, warm.fit.gradient)
    _copy(state.fit.H, warm.fit.H)
    _copy(state.fit.passes, warm.fit.passes)
    _copy(state.moment, warm.moment)
    _copy(state.carry, warm.carry)
    _copy_inverse(state.learned, warm.learned)
    if kind.at_acceptance:
        _copy_inverse(state.seen, warm.seen)


@jit
def run_lanes(
    rows, y, n_initial, batch, delay, warm, state, kind, rule, alphas, cutoffs, keys, bonus, mean,
    slope, draws, ids, accepted, status
):  # fmt: skip
    """Run lanes that differ in alpha, cutoff and key only, each from the warm start."""
    for k in range(alphas.shape[0]):
        reset(state, warm, kind)
        lane_rule = Rule(
            alphas[k],
            cutoffs[k],
            keys[k],
            rule.n_draws,
            rule.uses_width,
            rule.accepts_ties,
            rule.in_examples,
        )
        status[k] = run_lane(
            rows, y, n_initial, batch, delay, state, kind, lane_rule, bonus, mean, slope, draws,
            ids, accepted[k]
        )  # fmt: skip

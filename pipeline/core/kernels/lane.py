"""The kernels of one lane: score a row, add the bonus, decide, learn what was accepted.

The engine runs a whole stream in one call; the streaming learner goes round by round, in
:mod:`pipeline.core.kernels.streaming`. Labels are read where rows are learned only, which are
accepted ones.

``fit`` is () for the linear link, which needs no solver; ``seen`` is () unless A grows at
acceptance (Algorithm 2), before the label is there: then it gives the width.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pipeline.core.kernels.draws import fill_draws
from pipeline.core.kernels.inverse import (
    add_rows,
    apply,
    grow,
    inverse_of,
    refactorise,
    square_width,
)
from pipeline.core.kernels.jit import bonus_at, entry, inlined, jit
from pipeline.core.kernels.memory import fit_of, state_of
from pipeline.core.kernels.rows import add_scaled_exactly, dot, symmetric_times
from pipeline.core.kernels.solver import FITTED, refit

DONE, NOT_CONVERGED, NAN_BONUS, BAD_LABEL, BAD_FEATURE, SINGULAR = range(6)


class Rule(NamedTuple):
    """One method at work: everything but its bonus function."""

    alpha: float
    cutoff: float
    key: int
    n_draws: int
    uses_width: bool
    accepts_ties: bool
    in_examples: bool
    contrast: bool


@inlined
def score_row(beta, fit, rows, i, contrast):
    """Return the score of a row: μ(x'β), or 2μ − ½ on the contrast scale."""
    value = dot(rows, i, beta)
    if len(fit) > 0:
        block = fit.block
        block[0, 0] = value
        fit.mean(block[0], block[1], 1)
        value = block[1, 0]
    return 2.0 * value - 0.5 if contrast else value


@inlined
def width_row(state, seen, rows, i):
    """Return sqrt(x'A⁻¹x)."""
    if len(seen) > 0:
        return square_width(seen, rows, i) ** 0.5
    return square_width(state.learned, rows, i) ** 0.5


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
def grow_seen(state, seen, rows, i):
    """Let A grow at acceptance, where it does."""
    if len(seen) > 0:
        s = apply(seen, rows, i, state.vector)
        grow(seen, rows, i, state.vector, s)


@jit
def _solve_ridge(state):
    """Set β = A⁻¹ Σ x y with one step of iterative refinement; A⁻¹ must be fresh."""
    A, b, beta = state.learned, state.moment, state.beta
    residual = state.vector
    for j in range(beta.shape[0]):
        beta[j] = 0.0
        residual[j] = 0.0
    symmetric_times(A.P, b, beta)
    symmetric_times(A.A, beta, residual)
    for j in range(beta.shape[0]):
        residual[j] = b[j] - residual[j]
    symmetric_times(A.P, residual, beta)


@inlined
def _learn_one(state, fit, rows, i, y):
    """Rank-one update of A⁻¹ and, for the linear link, of β: β += A⁻¹x (y − x'β)/(1 + x'A⁻¹x)."""
    u = state.vector
    s = apply(state.learned, rows, i, u)
    if len(fit) > 0:
        grow(state.learned, rows, i, u, s)
    else:
        step = (y[i] - dot(rows, i, state.beta)) / (1.0 + s)
        for j in range(u.shape[0]):
            state.beta[j] += step * u[j]
        add_scaled_exactly(rows, i, y[i], state.moment, state.carry)
        if grow(state.learned, rows, i, u, s):
            _solve_ridge(state)


@jit
def _learn_many(state, fit, rows, ids, n_old, n, y):
    """Add many rows to A and invert it once. False if A is singular."""
    add_rows(state.learned, rows, ids, n_old, n)
    regular = refactorise(state.learned)
    if len(fit) == 0:
        for k in range(n_old, n):
            add_scaled_exactly(rows, ids[k], y[ids[k]], state.moment, state.carry)
        _solve_ridge(state)
    return regular


@inlined
def refit_if_due(fit, rows, ids, n, y, every):
    """Find the β of rows ids[:n], once ``every`` of them are new. False if there is none."""
    if len(fit) == 0:
        return True
    n_old = fit.counts[FITTED]
    if n - n_old < every:
        return True
    fit.counts[FITTED] = n
    return refit(rows, ids, n_old, n, y, fit)


@inlined
def learn_rows(state, fit, rows, ids, n_old, n, y):
    """Let A and what follows from it learn rows ids[n_old:n]."""
    if n - n_old > state.moment.shape[0]:
        _learn_many(state, fit, rows, ids, n_old, n, y)
    else:
        for k in range(n_old, n):
            _learn_one(state, fit, rows, ids[k], y)


@inlined
def learn(state, fit, rows, ids, n_old, n, y, keep_inverse, every):
    """Learn rows ids[n_old:n], whose labels have arrived. False if the fit does not converge."""
    if keep_inverse or len(fit) == 0:
        learn_rows(state, fit, rows, ids, n_old, n, y)
    return refit_if_due(fit, rows, ids, n, y, every)


@inlined
def good_label(label, binary):
    """Tell whether a label is a number, and 0 or 1 where it must be."""
    return np.isfinite(label) and not (binary and label * (1.0 - label) != 0.0)


@entry
def warm_start(memory, link, rows, ids, y):
    """Learn the first rows of all."""
    state, fit = state_of(memory), fit_of(memory, link)
    none, n = np.int64(0), ids.shape[0]
    if not _learn_many(state, fit, rows, ids, none, n, y):
        return SINGULAR
    return DONE if refit_if_due(fit, rows, ids, n, y, 1) else NOT_CONVERGED


@jit
def _run_lane(
    state, fit, seen, rows, y, n_initial, batch, delay, every, rule, binary, bonus, draws, ids,
    accepted
):  # fmt: skip
    """Run a stream: rows after the first ``n_initial``, in rounds of ``batch``.

    Fills ``accepted`` and returns a status. The labels of round r arrive after the decisions of
    round r + delay. ``ids`` has room for all rows; its first ``n_initial`` are
    set. ``draws`` has room for the draws of one example.
    """
    n_stream = accepted.shape[0]
    n_rounds = (n_stream + batch - 1) // batch
    keep_inverse = rule.uses_width and len(seen) == 0
    n_learned = n_initial
    for r in range(n_rounds):
        for e in range(r * batch, min((r + 1) * batch, n_stream)):
            i = n_initial + e
            score = score_row(state.beta, fit, rows, i, rule.contrast)
            width = width_row(state, seen, rows, i) if rule.uses_width else np.nan
            extra = bonus_of(score, width, r, e, rule, bonus, draws)
            if np.isnan(extra):
                return NAN_BONUS
            accepted[e] = passes(score, extra, rule)
            if accepted[e]:
                grow_seen(state, seen, rows, i)
        due = r - delay
        if due < 0:
            continue
        n_new = n_learned
        for e in range(due * batch, min((due + 1) * batch, n_stream)):
            if accepted[e]:
                if not good_label(y[n_initial + e], binary):
                    return BAD_LABEL
                ids[n_new] = n_initial + e
                n_new += 1
        if not learn(state, fit, rows, ids, n_learned, n_new, y, keep_inverse, every):
            return NOT_CONVERGED
        n_learned = n_new
    return DONE


@jit
def copy(target, source):
    """Copy one vector over another."""
    for k in range(target.shape[0]):
        target[k] = source[k]


@inlined
def _reset(memory, warm):
    """Bring a memory back to the warm start, scratch space aside."""
    copy(memory[0], warm[0])
    copy(memory[2], warm[2])


@inlined
def seen_of(memory):
    """Return the A that grows at acceptance, () where none does."""
    if len(memory) == 0:
        return ()
    return inverse_of(memory)


@inlined
def _reset_seen(memory, warm):
    if len(memory) > 0:
        copy(memory[0], warm[0])
        copy(memory[2], warm[2])


@entry
def run_lanes(
    rows, y, n_initial, batch, delay, every, warm, memory, seen_memory, link, rule, binary,
    alphas, cutoffs, keys, bonus, draws, ids, accepted, status
):  # fmt: skip
    """Run lanes that differ in alpha, cutoff and key only, each from the warm start."""
    state, fit, seen = state_of(memory), fit_of(memory, link), seen_of(seen_memory)
    function = bonus_at(bonus)
    for k in range(alphas.shape[0]):
        _reset(memory, warm)
        _reset_seen(seen_memory, warm)
        lane_rule = Rule(
            alphas[k],
            cutoffs[k],
            keys[k],
            rule.n_draws,
            rule.uses_width,
            rule.accepts_ties,
            rule.in_examples,
            rule.contrast,
        )
        status[k] = _run_lane(
            state, fit, seen, rows, y, n_initial, batch, delay, every, lane_rule, binary, function,
            draws, ids, accepted[k]
        )  # fmt: skip

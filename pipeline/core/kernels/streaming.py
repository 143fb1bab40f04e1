"""The kernels of the streaming learner: one call decides on a batch, one learns it.

They take rows as users hand them in, check their values, and work on one row at a time.
"""

from __future__ import annotations

import numpy as np

from pipeline.core.kernels.inverse import add_row, inverse_of, refactorise
from pipeline.core.kernels.jit import bonus_at, entry, inlined, jit
from pipeline.core.kernels.lane import (
    BAD_FEATURE,
    BAD_LABEL,
    DONE,
    NAN_BONUS,
    NOT_CONVERGED,
    bonus_of,
    copy,
    good_label,
    grow_seen,
    learn_rows,
    passes,
    refit_if_due,
    score_row,
    seen_of,
    width_row,
)
from pipeline.core.kernels.memory import fit_of, state_of
from pipeline.core.kernels.rows import Dense
from pipeline.core.kernels.solver import FITTED, REFIT_PASSES

# The largest feature whose square can still be summed.
LARGEST = 1e120


@jit
def _good_features(X):
    """Tell whether all features are numbers that can be used."""
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            if not abs(X[i, j]) <= LARGEST:
                return False
    return True


@inlined
def _take_row(X, i, row):
    """Copy a row, with the constant behind it where there is one."""
    row[row.shape[0] - 1] = 1.0
    for j in range(X.shape[1]):
        row[j] = X[i, j]


@inlined
def _one_row(state):
    """Return the room for one row as rows."""
    return Dense(state.row.reshape((1, state.row.shape[0])))


@entry
def judge_rows(
    memory, seen_memory, link, beta, X, round_, first, rule, bonus, draws, score, extra, accepted
):
    """Decide on a batch of the streaming learner: one round, from example ``first`` on."""
    state, fit, seen = state_of(memory), fit_of(memory, link), seen_of(seen_memory)
    function, rows = bonus_at(bonus), _one_row(state)
    if not _good_features(X):
        return BAD_FEATURE
    for i in range(X.shape[0]):
        _take_row(X, i, state.row)
        score[i] = score_row(beta, fit, rows, 0, rule.contrast)
        width = width_row(state, seen, rows, 0) if rule.uses_width else np.nan
        extra[i] = bonus_of(score[i], width, round_, first + i, rule, function, draws)
        if np.isnan(extra[i]):
            return NAN_BONUS
        accepted[i] = passes(score[i], extra[i], rule)
        if accepted[i]:
            grow_seen(state, seen, rows, 0)
    return DONE


@inlined
def _exchange_with_before(fit, keep):
    """Note what a refit is about to change, or take it back."""
    if len(fit) > 0:
        d, first = fit.beta.shape[0], 0
        for part in (fit.beta, fit.gradient, fit.H.reshape(d * d)):
            kept = fit.before[first : first + part.shape[0]]
            if keep:
                copy(kept, part)
            else:
                copy(part, kept)
            first += part.shape[0]


@entry
def learn_batch(memory, link, X, y, table, labels, ids, n_old, every, binary):
    """Learn a batch of the streaming learner, or nothing of it.

    The rows and their labels join those of ``table`` and ``labels``, from number ``n_old`` on.
    """
    state, fit, counts = state_of(memory), fit_of(memory, link), memory[2]
    n = n_old + X.shape[0]
    for k in range(n_old, n):
        if not good_label(y[k - n_old], binary):
            return BAD_LABEL
        _take_row(X, k - n_old, table[k])
        labels[k] = y[k - n_old]
    rows = Dense(table)
    _exchange_with_before(fit, True)
    n_passes, n_fitted = counts[REFIT_PASSES], counts[FITTED]
    if not refit_if_due(fit, rows, ids, n, labels, every):
        _exchange_with_before(fit, False)
        counts[REFIT_PASSES], counts[FITTED] = n_passes, n_fitted
        return NOT_CONVERGED
    learn_rows(state, fit, rows, ids, n_old, n, labels)
    return DONE


@entry
def score_rows(memory, link, beta, X, contrast, out):
    """Fill ``out`` with the scores of rows."""
    state, fit = state_of(memory), fit_of(memory, link)
    rows = _one_row(state)
    for i in range(X.shape[0]):
        _take_row(X, i, state.row)
        out[i] = score_row(beta, fit, rows, 0, contrast)


@entry
def width_rows(memory, seen_memory, X, out):
    """Fill ``out`` with sqrt(x'A⁻¹x) of rows."""
    state, seen = state_of(memory), seen_of(seen_memory)
    rows = _one_row(state)
    for i in range(X.shape[0]):
        _take_row(X, i, state.row)
        out[i] = width_row(state, seen, rows, 0)


@entry
def accept_rows(memory, seen_memory, X):
    """Let the A that grows at acceptance grow with rows that were accepted."""
    state, seen = state_of(memory), inverse_of(seen_memory)
    rows = _one_row(state)
    for i in range(X.shape[0]):
        _take_row(X, i, state.row)
        grow_seen(state, seen, rows, 0)


@entry
def see_rows(memory, seen_memory, X):
    """Let the A that grows at acceptance receive rows whose labels are still to come."""
    state, seen = state_of(memory), inverse_of(seen_memory)
    rows = _one_row(state)
    for i in range(X.shape[0]):
        _take_row(X, i, state.row)
        add_row(seen, rows, 0)
    refactorise(seen)


@entry
def judge_scores(score, width, round_, first, rule, bonus, draws, extra, accepted):
    """Decide on rows that another model has scored; fills bonus and ``accepted``."""
    function = bonus_at(bonus)
    for i in range(score.shape[0]):
        extra[i] = bonus_of(score[i], width[i], round_, first + i, rule, function, draws)
        if np.isnan(extra[i]):
            return NAN_BONUS
        accepted[i] = passes(score[i], extra[i], rule)
    return DONE

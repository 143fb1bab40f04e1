"""A heuristic for the least one-sided loss where it is no sum over groups: coordinate ascent.

The loss Σ |y − c|·1{1{y > c} ≠ 1{x'β > z}} is Σ (y − c)₊ minus Σ (y − c)·1{x'β > z}, the worth of
what is accepted. Along one coordinate of β the worth is a step function with a step for each row,
so its maximum is found exactly by sorting. The search takes the coordinates in turn until none of
them brings more: a local maximum, not always the best one, which is NP-hard to find.
"""

from __future__ import annotations

import numpy as np

from pipeline.core.kernels.rows import FloatArray

# A sweep without gain ends the search; so does this many, to bound its time.
MAX_SWEEPS = 20


def accepted_worth(X: FloatArray, worth: FloatArray, z: float, beta: FloatArray) -> float:
    """Return Σ worth over the rows with x'β > z."""
    return float(worth[np.einsum("ij,j->i", X, beta) > z].sum())


def regression(X: FloatArray, worth: FloatArray, z: float, penalty: FloatArray) -> FloatArray:
    """Return the ridge regression of z + y − c on X; with the linear link that is the usual fit."""
    gram = X.T @ X + np.diag(penalty)
    return np.linalg.lstsq(gram, X.T @ (z + worth), rcond=None)[0].astype(np.float64)


def ascend(X: FloatArray, worth: FloatArray, z: float, beta: FloatArray) -> FloatArray:
    """Return β moved along its coordinates until no single one of them brings more worth."""
    beta = beta.copy()
    best = accepted_worth(X, worth, z, beta)
    for _ in range(MAX_SWEEPS):
        before = best
        predictor = np.einsum("ij,j->i", X, beta)
        for k in range(len(beta)):
            others = predictor - X[:, k] * beta[k]
            value, worth_there = _best_value(X[:, k], z - others, worth)
            if worth_there > best + 1e-12 * (1.0 + abs(best)):
                beta[k], best = value, worth_there
                predictor = others + X[:, k] * value
        if best == before:
            break
    return beta


def _best_value(column: FloatArray, needed: FloatArray, worth: FloatArray) -> tuple[float, float]:
    """Return the b that accepts most worth, and that worth; b accepts where column·b > needed."""
    always = float(worth[(column == 0.0) & (needed < 0.0)].sum())
    free = np.flatnonzero(column)
    if len(free) == 0:
        return 0.0, always
    column, gain = column[free], worth[free]
    turns = needed[free] / column  # a row is accepted on one side of its turn
    order = np.argsort(turns, kind="stable")
    turns = turns[order]
    far_left = float(gain[column < 0.0].sum())
    steps = np.where(column > 0.0, gain, -gain)[order]
    worths = np.concatenate([[far_left], far_left + np.cumsum(steps)])
    values = np.concatenate([turns[:1] - 1.0, (turns[:-1] + turns[1:]) / 2.0, turns[-1:] + 1.0])
    between = np.concatenate([[True], turns[:-1] < turns[1:], [True]])
    best = int(np.argmax(np.where(between, worths, -np.inf)))
    return float(values[best]), always + float(worths[best])

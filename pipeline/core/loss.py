"""One-sided loss (Definition 1), the truth it is measured against, and its bookkeeping.

r_t = Σ |μ(x'β*) − c|·1{1{μ(x'β*) > c} ≠ a}: a wrong decision costs the distance of the true
score to the cutoff, a right one costs nothing. Two kinds of mistake: a row is *missed* when it is
truly above the cutoff and rejected, *wasted* when it is not above and accepted.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.core.kernels.jit import entry, jit
from pipeline.core.kernels.rows import FloatArray
from pipeline.core.models.base import ModelSpec, ScoreScale
from pipeline.core.models.glm import GLM


def one_sided_loss(truth: FloatArray, cutoff: float, accepted: NDArray[np.bool_]) -> FloatArray:
    """Return the loss of each decision."""
    wrong = (truth > cutoff) != accepted
    return np.where(wrong, np.abs(truth - cutoff), 0.0)


def fit_truth(X: FloatArray, y: FloatArray, spec: ModelSpec) -> FloatArray:
    """Return the score of every row under β*, the fit of that model to all rows.

    With the linear link and l2 = 0 the β* of minimum norm is taken where X is singular.
    """
    model = GLM(spec)
    if model.linear and spec.l2 == 0:
        design = model.rows(X).X
        beta = np.linalg.lstsq(design, y, rcond=None)[0].astype(np.float64)
        return to_scale(design @ beta, spec.score)
    model.fit(X, y)
    return model.score(X)


def to_scale(mean: FloatArray, score: ScoreScale) -> FloatArray:
    """Return a mean on the score scale: itself, or the contrast 2μ − ½."""
    return 2.0 * mean - 0.5 if score == "contrast" else mean


def cutoff_at(truth: FloatArray, quantile: float) -> float:
    """Return the cutoff with that share of true scores below it."""
    if not 0.0 < quantile < 1.0:
        raise ValueError(f"a cutoff quantile lies between 0 and 1, got {quantile!r}")
    return float(np.quantile(truth, quantile))


def curve_rounds(n_rounds: int, n_points: int) -> NDArray[np.int64]:
    """Return about ``n_points`` round numbers, evenly spread, the last round included."""
    points = np.linspace(n_rounds, 1, min(n_points, n_rounds))
    return np.unique(points.round().astype(np.int64))


# Columns of the counts that :func:`tally` fills.
SIZE, ABOVE, ACCEPTED, MISSED, WASTED = range(5)


@jit
def tally(accepted, truth, cutoff, group, batch, rounds, curve, counts, group_loss):
    """Add up one lane: R_t at the given rounds, and counts and loss for each group."""
    total = 0.0
    point = 0
    for e in range(accepted.shape[0]):
        above = truth[e] > cutoff
        row = counts[group[e]]
        row[SIZE] += 1
        row[ABOVE] += above
        row[ACCEPTED] += accepted[e]
        if above != accepted[e]:
            distance = abs(truth[e] - cutoff)
            total += distance
            group_loss[group[e]] += distance
            row[MISSED if above else WASTED] += 1
        last_of_round = (e + 1) % batch == 0 or e + 1 == accepted.shape[0]
        if last_of_round and point < rounds.shape[0] and e // batch + 1 == rounds[point]:
            curve[point] = total
            point += 1


@entry
def tally_lanes(accepted, truth, cutoffs, group, batch, rounds, curve, counts, group_loss):
    """Add up several lanes of one stream, see :func:`tally`."""
    for k in range(cutoffs.shape[0]):
        tally(
            accepted[k], truth, cutoffs[k], group, batch, rounds, curve[k], counts[k], group_loss[k]
        )

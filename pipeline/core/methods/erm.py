"""The alternative greedy rule: minimise the empirical one-sided loss itself (Section 5, App. B).

Exactly where rows are an orthogonal system, group by group; by a heuristic elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.core.kernels.rows import FloatArray
from pipeline.core.methods.base import CutoffMethod, register
from pipeline.core.methods.baselines import Greedy
from pipeline.core.models.base import CutoffModel, Model, ModelSpec

# The heuristic searches again when the rows have grown by this share since it last did.
GROWTH = 0.05
# Two unit vectors with a product below this are orthogonal.
TOLERANCE = 1e-12
# A sweep without gain ends the search; so does this many, to bound its time.
MAX_SWEEPS = 20


@register
@dataclass(frozen=True)
class Erm(CutoffMethod, Greedy):
    """Add nothing to the score of the β with the least loss on the rows accepted so far."""

    name = "erm"

    def make_model(self, spec: ModelSpec) -> Model:
        """Return a model that minimises the one-sided loss."""
        return LeastLoss(spec, self.handed_cutoff())


class LeastLoss(CutoffModel):
    """argmin over β of Σ |y − c|·1{1{y > c} ≠ 1{μ(x'β) > c}} over the rows learned.

    Exact while the rows are an orthogonal system; a coordinate ascent once they are not.

    Attributes:
        beta: the coefficients, the intercept last.
        groups: the orthogonal system; ``groups.holds`` says whether β is the exact minimum.
    """

    owner = "erm"

    def start(self, n_columns: int) -> None:
        """Forget all that was learned."""
        super().start(n_columns)
        self.groups = OrthogonalGroups(n_columns)
        self._n_searched = 0

    def width(self, X: FloatArray) -> FloatArray:
        """Return 0: the loss says nothing about its own uncertainty."""
        return np.zeros(len(X))

    def update(self, X: FloatArray, y: FloatArray) -> None:
        """Learn rows and minimise again."""
        c = self.mean_cutoff()
        self.remember(X, y)
        self.groups.add(self.columns(X), y - c)
        if not self.has_choice():
            return
        z = self.threshold()
        if self.groups.holds:
            self.beta = self.groups.solution(z)
        else:
            rows, labels = self.remembered
            if len(rows) >= (1.0 + GROWTH) * self._n_searched:
                self._search(rows, labels - c, z)

    def _search(self, X: FloatArray, worth: FloatArray, z: float) -> None:
        """Ascend from the last β and from the regression, and take the better end."""
        penalty = self.spec.penalty(X.shape[1] - self.spec.fit_intercept)
        starts = (self.beta, regression(X, worth, z, penalty))
        ends = [ascend(X, worth, z, start) for start in starts]
        self.beta = max(ends, key=lambda beta: accepted_worth(X, worth, z, beta))
        self._n_searched = len(X)

    def state(self) -> dict[str, NDArray[np.generic]]:
        """Return the rows learned, β and when it was last searched for."""
        return {**super().state(), "n_searched": np.array(self._n_searched)}

    def restore(self, state: dict[str, NDArray[np.generic]]) -> None:
        """Take up saved arrays; the groups are those of the rows."""
        super().restore(state)
        self._n_searched = int(state["n_searched"])
        X, y = self.remembered
        self.groups.add(X, y - self.mean_cutoff())


class OrthogonalGroups:
    """The exact minimum for as long as rows are an orthogonal system (App. B): l against u.

    A group is a vector v that rows repeat; groups are orthogonal to each other. v'β can be chosen
    for each group by itself, and only its side of the threshold matters: accepting all rows of the
    group loses l = Σ (c − y)₊, rejecting them u = Σ (y − c)₊.

    Attributes:
        holds: whether all rows so far are.
        vectors: the groups' vectors, in the order they were first seen.
        lost: l of each group.
        missed: u of each group.
    """

    def __init__(self, n_columns: int) -> None:
        self.holds = True
        self.vectors = np.empty((0, n_columns))
        self.lost = np.empty(0)
        self.missed = np.empty(0)

    def add(self, X: FloatArray, worth: FloatArray) -> None:
        """Take in rows and their y − c."""
        for x, value in zip(X, worth, strict=True):
            if not self.holds:
                return
            same = (self.vectors == x).all(axis=1)
            if not same.any():
                length = np.linalg.norm(self.vectors, axis=1) * np.linalg.norm(x)
                apart = np.abs(self.vectors @ x) <= TOLERANCE * length
                self.holds = bool(apart.all() and x.any())
                self.vectors, same = np.vstack([self.vectors, x]), np.append(same, True)
                self.lost, self.missed = np.append(self.lost, 0.0), np.append(self.missed, 0.0)
            self.lost[same] += max(-value, 0.0)
            self.missed[same] += max(value, 0.0)

    def solution(self, z: float) -> FloatArray:
        """Return the shortest β with v'β = z + 1 where l < u, and z − 1 elsewhere."""
        side = np.where(self.lost < self.missed, z + 1.0, z - 1.0)
        squares = np.einsum("ij,ij->i", self.vectors, self.vectors)
        beta: FloatArray = (side / squares) @ self.vectors
        return beta


def accepted_worth(X: FloatArray, worth: FloatArray, z: float, beta: FloatArray) -> float:
    """Return Σ worth over the rows with x'β > z."""
    return float(worth[np.einsum("ij,j->i", X, beta) > z].sum())


def regression(X: FloatArray, worth: FloatArray, z: float, penalty: FloatArray) -> FloatArray:
    """Return the ridge regression of z + y − c on X; with the linear link that is the usual fit."""
    gram = X.T @ X + np.diag(penalty)
    return np.linalg.lstsq(gram, X.T @ (z + worth), rcond=None)[0].astype(np.float64)


def ascend(X: FloatArray, worth: FloatArray, z: float, beta: FloatArray) -> FloatArray:
    """Return β moved along its coordinates until no single one of them brings more worth.

    The loss Σ |y − c|·1{1{y > c} ≠ 1{x'β > z}} is Σ (y − c)₊ minus Σ (y − c)·1{x'β > z}, the worth
    of what is accepted. Along one coordinate of β the worth is a step function with a step for each
    row, so its maximum is found exactly by sorting. Where no coordinate brings more there is a
    local maximum, not always the best one, which is NP-hard to find.
    """
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

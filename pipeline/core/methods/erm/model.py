"""The model of the alternative greedy rule: a β with the least one-sided loss on what was seen."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.core.kernels.rows import FloatArray
from pipeline.core.methods.base import Setting
from pipeline.core.methods.erm.orthogonal import OrthogonalGroups
from pipeline.core.methods.erm.search import accepted_worth, ascend, regression
from pipeline.core.models.base import Model, ModelSpec

# The heuristic searches again when the rows have grown by this share since it last did.
GROWTH = 0.05


class LeastLoss(Model):
    """argmin over β of Σ |y − c|·1{1{y > c} ≠ 1{μ(x'β) > c}} over the rows learned.

    Exact while the rows are an orthogonal system; a coordinate ascent once they are not.

    Attributes:
        beta: the coefficients, the intercept last.
        groups: the orthogonal system; ``groups.holds`` says whether β is the exact minimum.
    """

    def __init__(self, spec: ModelSpec, setting: Setting | None) -> None:
        self.spec = spec
        self.cutoff = None if setting is None else setting.cutoff
        self._mean = np.vectorize(spec.link.mean, otypes=[np.float64])
        self._start(0)

    def _start(self, n_columns: int) -> None:
        self.beta = np.zeros(n_columns)
        self.groups = OrthogonalGroups(n_columns)
        self._X, self._y = np.empty((0, n_columns)), np.empty(0)
        self._n = self._n_searched = 0

    @property
    def coef_(self) -> FloatArray:
        """Coefficients of the features."""
        return self.beta[:-1].copy() if self.spec.fit_intercept else self.beta.copy()

    @property
    def intercept_(self) -> float:
        """Coefficient of the constant column, 0 without one."""
        return float(self.beta[-1]) if self.spec.fit_intercept else 0.0

    def fit(self, X: FloatArray, y: FloatArray) -> None:
        """Learn the warm start."""
        self._start(X.shape[1] + self.spec.fit_intercept)
        self.update(X, y)

    def score(self, X: FloatArray) -> FloatArray:
        """Return μ(x'β), or 2μ − ½ on the contrast scale."""
        # einsum adds up each row by itself: a row's score does not depend on its batch
        mean: FloatArray = self._mean(np.einsum("ij,j->i", self._columns(X), self.beta))
        return 2.0 * mean - 0.5 if self.spec.score == "contrast" else mean

    def width(self, X: FloatArray) -> FloatArray:
        """Return 0: the loss says nothing about its own uncertainty."""
        return np.zeros(len(X))

    def update(self, X: FloatArray, y: FloatArray) -> None:
        """Learn rows and minimise again."""
        rows, c = self._columns(X), self._mean_cutoff()
        self._remember(rows, y)
        self.groups.add(rows, y - c)
        if self.spec.link.binary and not 0.0 < c < 1.0:
            return  # every β decides alike, as 0 < μ < 1
        z = float(self.spec.link.inverse(c))
        if self.groups.holds:
            self.beta = self.groups.solution(z)
        elif self._n >= (1.0 + GROWTH) * self._n_searched:
            self._search(self._X[: self._n], self._y[: self._n] - c, z)
            self._n_searched = self._n

    def _search(self, X: FloatArray, worth: FloatArray, z: float) -> None:
        """Ascend from the last β and from the regression, and take the better end."""
        penalty = self.spec.penalty(X.shape[1] - self.spec.fit_intercept)
        starts = (self.beta, regression(X, worth, z, penalty))
        ends = [ascend(X, worth, z, start) for start in starts]
        self.beta = max(ends, key=lambda beta: accepted_worth(X, worth, z, beta))

    def _remember(self, rows: FloatArray, y: FloatArray) -> None:
        """Append rows, in arrays that double when full."""
        n = self._n + len(y)
        if n > len(self._y):
            room = max(n, 2 * len(self._y)) - len(self._y)
            self._X = np.concatenate([self._X, np.empty((room, rows.shape[1]))])
            self._y = np.concatenate([self._y, np.empty(room)])
        self._X[self._n : n], self._y[self._n : n] = rows, y
        self._n = n

    def _mean_cutoff(self) -> float:
        """Return c on the scale of the mean."""
        if self.cutoff is None:
            raise RuntimeError("erm needs the cutoff: use it in a OneSidedLearner")
        return (self.cutoff + 0.5) / 2.0 if self.spec.score == "contrast" else self.cutoff

    def _columns(self, X: FloatArray) -> FloatArray:
        return np.column_stack([X, np.ones(len(X))]) if self.spec.fit_intercept else X

    def state(self) -> dict[str, NDArray[np.generic]]:
        """Return the rows learned, β and when it was last searched for."""
        return {
            "X": self._X[: self._n].copy(),
            "y": self._y[: self._n].copy(),
            "beta": self.beta.copy(),
            "cutoff": np.array(self.cutoff),
            "n_searched": np.array(self._n_searched),
        }

    def restore(self, state: dict[str, NDArray[np.generic]]) -> None:
        """Take up saved arrays; the groups are those of the rows."""
        X, y, beta = (np.array(state[name], dtype=np.float64) for name in ("X", "y", "beta"))
        self._start(X.shape[1])
        self._X, self._y, self._n = X, y, len(y)
        self.beta, self._n_searched = beta, int(state["n_searched"])
        self.cutoff = float(state["cutoff"])
        self.groups.add(X, y - self._mean_cutoff())

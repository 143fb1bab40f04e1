"""The model of the passive learner: it collects K + S labelled rows and chooses β once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.core.kernels.jit import jit
from pipeline.core.kernels.rows import FloatArray
from pipeline.core.methods.base import Setting
from pipeline.core.methods.passive.patterns import Patterns, Thresholds
from pipeline.core.models.base import Model, ModelSpec


class FixedRule(Model):
    """Observes until K + S labels are there, then scores with a β that never changes.

    Rows of the warm start are the first of the K + S. A round is observed as a whole, and all
    labels it brought are used.
    """

    def __init__(
        self,
        spec: ModelSpec,
        setting: Setting | None,
        discretization_size: int,
        exploration_size: int,
        patterns: Patterns,
    ) -> None:
        self.spec = spec
        self.n_patterned = discretization_size
        self.n_observed = discretization_size + exploration_size
        self.patterns = patterns
        self.cutoff = None if setting is None else setting.cutoff
        self._mean = np.vectorize(spec.link.mean, otypes=[np.float64])
        self.observing = True
        self.beta = np.empty(0)
        self._X = np.empty((0, 0))
        self._y = np.empty(0)

    @property
    def coef_(self) -> FloatArray:
        """Coefficients of the features, 0 before they are chosen."""
        return self.beta[:-1].copy() if self.spec.fit_intercept else self.beta.copy()

    @property
    def intercept_(self) -> float:
        """Coefficient of the constant column, 0 without one."""
        return float(self.beta[-1]) if self.spec.fit_intercept else 0.0

    def fit(self, X: FloatArray, y: FloatArray) -> None:
        """Observe the warm start."""
        n_columns = X.shape[1] + self.spec.fit_intercept
        if self._has_choice():
            central = self.spec.fit_intercept or self._threshold() == 0.0
            self.patterns.check(self.n_patterned, n_columns, central=central)
        self.observing, self.beta = True, np.zeros(n_columns)
        self._X, self._y = np.empty((0, n_columns)), np.empty(0)
        self.update(X, y)

    def score(self, X: FloatArray) -> FloatArray:
        """Return μ(x'β), or 2μ − ½ on the contrast scale."""
        # einsum adds up each row by itself: a row's score does not depend on its batch
        mean: FloatArray = self._mean(np.einsum("ij,j->i", self._columns(X), self.beta))
        return 2.0 * mean - 0.5 if self.spec.score == "contrast" else mean

    def width(self, X: FloatArray) -> FloatArray:
        """Return ∞ while rows are observed, 0 afterwards."""
        return np.full(len(X), np.inf if self.observing else 0.0)

    def update(self, X: FloatArray, y: FloatArray) -> None:
        """Collect labelled rows; once there are enough, choose and ignore what comes later."""
        if not self.observing:
            return
        self._X = np.concatenate([self._X, self._columns(X)])
        self._y = np.concatenate([self._y, y])
        if len(self._y) >= self.n_observed:
            self.beta = self._choose()
            self.observing = False
            self._X, self._y = self._X[:0], self._y[:0]

    def _choose(self) -> FloatArray:
        """Return the β of the class with the least Σ |y − c|·1{1{y > c} ≠ a} (Algorithm 1, 2).

        That sum is Σ (y − c)₊ − Σ a·(y − c): the most is wanted of what acceptances bring.
        """
        if not self._has_choice():
            return self.beta
        rows, z = self._X[: self.n_patterned], self._threshold()
        candidates = self.patterns.representatives(Thresholds(rows, z, self.spec.fit_intercept))
        gains = np.empty(len(candidates))
        _gains(np.ascontiguousarray(candidates), self._X, self._y - self._mean_cutoff(), z, gains)
        best: FloatArray = candidates[np.argmax(gains)].copy()
        return best

    def _mean_cutoff(self) -> float:
        """Return c on the scale of the mean."""
        if self.cutoff is None:
            raise RuntimeError("the passive learner needs the cutoff: use it in a OneSidedLearner")
        return (self.cutoff + 0.5) / 2.0 if self.spec.score == "contrast" else self.cutoff

    def _has_choice(self) -> bool:
        """Tell whether β matters: a mean between 0 and 1 is always above a cutoff below 0."""
        return not self.spec.link.binary or 0.0 < self._mean_cutoff() < 1.0

    def _threshold(self) -> float:
        """Return z = μ⁻¹(c): μ(x'β) ≥ c where x'β ≥ z."""
        return float(self.spec.link.inverse(self._mean_cutoff()))

    def _columns(self, X: FloatArray) -> FloatArray:
        return np.column_stack([X, np.ones(len(X))]) if self.spec.fit_intercept else X

    def state(self) -> dict[str, NDArray[np.generic]]:
        """Return the rows observed, or β."""
        return {
            "X": self._X.copy(),
            "y": self._y.copy(),
            "beta": self.beta.copy(),
            "cutoff": np.array(self.cutoff),
            "observing": np.array(self.observing),
        }

    def restore(self, state: dict[str, NDArray[np.generic]]) -> None:
        """Take up saved arrays."""
        self._X, self._y, self.beta = (
            np.array(state[name], dtype=np.float64) for name in ("X", "y", "beta")
        )
        self.cutoff, self.observing = float(state["cutoff"]), bool(state["observing"])


@jit
def _gains(
    candidates: FloatArray, X: FloatArray, worth: FloatArray, z: float, gains: FloatArray
) -> None:
    """Set gains[k] to the worth of all rows that candidate k accepts."""
    for k in range(candidates.shape[0]):
        total = 0.0
        for i in range(X.shape[0]):
            value = 0.0
            for j in range(X.shape[1]):
                value += X[i, j] * candidates[k, j]
            if value >= z:
                total += worth[i]
        gains[k] = total

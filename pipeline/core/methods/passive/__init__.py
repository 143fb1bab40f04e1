"""The passive learner (Algorithm 1): observe K + S rows, choose a rule once, never learn again.

``passive`` enumerates every decision pattern on the first K rows, as printed. That is possible in
few dimensions only; ``passive_cover`` takes some patterns at random instead. It is an
approximation, and has a name of its own so that every table and picture says so.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pipeline.core.kernels.jit import jit
from pipeline.core.kernels.rows import FloatArray
from pipeline.core.methods.base import CutoffMethod, Method, register
from pipeline.core.methods.passive.patterns import AllPatterns, Patterns, SomePatterns, Thresholds
from pipeline.core.models.base import CutoffModel, Model, ModelSpec


@register
@dataclass(frozen=True)
class Passive(CutoffMethod):
    """Accept everything until K + S labels are seen, then follow the rule that fits them best.

    Attributes:
        horizon: T, the number of rows to decide on; K = ⌈T^⅓⌉ and S = ⌈T^⅔⌉ (Proposition 1).
    """

    name = "passive"
    uses_width = True
    accepts_ties = True
    approximate: ClassVar[bool] = False
    horizon: int = 10_000

    def __post_init__(self) -> None:
        """Refuse a horizon that is none."""
        _check(self, "horizon", least=1)

    @property
    def discretization_size(self) -> int:
        """K: rows whose decision patterns make the finite class."""
        return _cube_root(self.horizon)

    @property
    def exploration_size(self) -> int:
        """S: further rows to choose from the class by."""
        return _cube_root(self.horizon**2)

    @staticmethod
    def bonus(t: float, alpha: float, score: float, width: float, draws: Any) -> float:
        """Return the width: ∞ while rows are observed, 0 once the rule is chosen."""
        return width

    def patterns(self) -> Patterns:
        """Return what builds the finite class."""
        return AllPatterns()

    def make_model(self, spec: ModelSpec) -> Model:
        """Return a model that chooses its coefficients once."""
        sizes = self.discretization_size, self.exploration_size
        return FixedRule(spec, self.handed_cutoff(), *sizes, self.patterns())


@register
@dataclass(frozen=True)
class PassiveCover(Passive):
    """Passive with patterns drawn at random: an approximation for any number of columns.

    Attributes:
        n_patterns: how many patterns are drawn.
        cover_seed: of these draws.
    """

    name = "passive_cover"
    approximate = True
    n_patterns: int = 2000
    cover_seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what cannot be counted."""
        super().__post_init__()
        _check(self, "n_patterns", least=1)
        _check(self, "cover_seed", least=0)

    def patterns(self) -> Patterns:
        """Return what draws some of the class."""
        return SomePatterns(self.n_patterns, self.cover_seed)


def _cube_root(n: int) -> int:
    """Return the least k with k³ ≥ n."""
    near = int(math.cbrt(n))
    return next(k for k in range(near, near + 3) if k**3 >= n)


def _check(method: Method, name: str, least: int) -> None:
    value = getattr(method, name)
    if not (math.isfinite(value) and value == int(value) and value >= least):
        raise ValueError(f"{method.name}: {name} must be a whole number >= {least}, got {value!r}")


class FixedRule(CutoffModel):
    """Observes until K + S labels are there, then scores with a β that never changes.

    Rows of the warm start are the first of the K + S. A round is observed as a whole, and all
    labels it brought are used.
    """

    owner = "the passive learner"

    def __init__(
        self,
        spec: ModelSpec,
        cutoff: float | None,
        discretization_size: int,
        exploration_size: int,
        patterns: Patterns,
    ) -> None:
        super().__init__(spec, cutoff)
        self.n_patterned = discretization_size
        self.n_observed = discretization_size + exploration_size
        self.patterns = patterns
        self.observing = True
        self._X = np.empty((0, 0))
        self._y = np.empty(0)

    def fit(self, X: FloatArray, y: FloatArray) -> None:
        """Observe the warm start."""
        n_columns = X.shape[1] + self.spec.fit_intercept
        if self.has_choice():
            central = self.spec.fit_intercept or self.threshold() == 0.0
            self.patterns.check(self.n_patterned, n_columns, central=central)
        self.observing, self.beta = True, np.zeros(n_columns)
        self._X, self._y = np.empty((0, n_columns)), np.empty(0)
        self.update(X, y)

    def width(self, X: FloatArray) -> FloatArray:
        """Return ∞ while rows are observed, 0 afterwards."""
        return np.full(len(X), np.inf if self.observing else 0.0)

    def update(self, X: FloatArray, y: FloatArray) -> None:
        """Collect labelled rows; once there are enough, choose and ignore what comes later."""
        if not self.observing:
            return
        self._X = np.concatenate([self._X, self.columns(X)])
        self._y = np.concatenate([self._y, y])
        if len(self._y) >= self.n_observed:
            self.beta = self._choose()
            self.observing = False
            self._X, self._y = self._X[:0], self._y[:0]

    def _choose(self) -> FloatArray:
        """Return the β of the class with the least Σ |y − c|·1{1{y > c} ≠ a} (Algorithm 1, 2).

        That sum is Σ (y − c)₊ − Σ a·(y − c): the most is wanted of what acceptances bring.
        """
        if not self.has_choice():
            return self.beta
        rows, z = self._X[: self.n_patterned], self.threshold()
        candidates = self.patterns.representatives(Thresholds(rows, z, self.spec.fit_intercept))
        gains = np.empty(len(candidates))
        _gains(np.ascontiguousarray(candidates), self._X, self._y - self.mean_cutoff(), z, gains)
        best: FloatArray = candidates[np.argmax(gains)].copy()
        return best

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

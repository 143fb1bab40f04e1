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

from pipeline.core.kernels.jit import entry
from pipeline.core.kernels.rows import FloatArray
from pipeline.core.methods.base import CutoffMethod, check_number, register
from pipeline.core.methods.passive.patterns import all_patterns, check_size, some_patterns
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
        check_number(self, "horizon", least=1, whole=True)

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

    def candidates(self, rows: FloatArray, z: float, *, intercept: bool) -> FloatArray:
        """Return the finite class: one β for each pattern on the rows."""
        return all_patterns(rows, z, intercept=intercept)

    def make_model(self, spec: ModelSpec) -> Model:
        """Return a model that chooses its coefficients once."""
        return FixedRule(spec, self.handed_cutoff(), self)


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
        check_number(self, "n_patterns", least=1, whole=True)
        check_number(self, "cover_seed", least=0, whole=True)

    def candidates(self, rows: FloatArray, z: float, *, intercept: bool) -> FloatArray:  # noqa: ARG002
        """Return some of the class."""
        return some_patterns(rows, z, self.n_patterns, self.cover_seed)


def _cube_root(n: int) -> int:
    """Return the least k with k³ ≥ n."""
    near = int(math.cbrt(n))
    return next(k for k in range(near, near + 3) if k**3 >= n)


class FixedRule(CutoffModel):
    """Observes until K + S labels are there, then scores with a β that never changes.

    Rows of the warm start are the first of the K + S. A round is observed as a whole, and all
    labels it brought are used.
    """

    owner = "the passive learner"

    def __init__(self, spec: ModelSpec, cutoff: float | None, method: Passive) -> None:
        self.method = method
        super().__init__(spec, cutoff)

    def start(self, n_columns: int) -> None:
        """Observe again."""
        super().start(n_columns)
        self.observing = True

    def fit(self, X: FloatArray, y: FloatArray) -> None:
        """Observe the warm start."""
        if self.has_choice() and not self.method.approximate:
            intercept = self.spec.fit_intercept
            central = intercept or self.threshold() == 0.0
            check_size(self.method.discretization_size, X.shape[1] + intercept, central=central)
        super().fit(X, y)

    def width(self, X: FloatArray) -> FloatArray:
        """Return ∞ while rows are observed, 0 afterwards."""
        return np.full(len(X), np.inf if self.observing else 0.0)

    def update(self, X: FloatArray, y: FloatArray) -> None:
        """Collect labelled rows; once there are enough, choose and ignore what comes later."""
        if not self.observing:
            return
        self.remember(X, y)
        rows, labels = self.remembered
        if len(rows) >= self.method.discretization_size + self.method.exploration_size:
            beta = self._choice(rows, labels) if self.has_choice() else self.beta
            self.start(rows.shape[1])
            self.observing, self.beta = False, beta

    def _choice(self, X: FloatArray, y: FloatArray) -> FloatArray:
        """Return the β of the class with the least Σ |y − c|·1{1{y > c} ≠ a} (Algorithm 1, 2).

        That sum is Σ (y − c)₊ − Σ a·(y − c): the most is wanted of what acceptances bring.
        """
        rows, z = X[: self.method.discretization_size], self.threshold()
        candidates = self.method.candidates(rows, z, intercept=self.spec.fit_intercept)
        gains = np.empty(len(candidates))
        _gains(np.ascontiguousarray(candidates), X, y - self.mean_cutoff(), z, gains)
        best: FloatArray = candidates[np.argmax(gains)].copy()
        return best

    def state(self) -> dict[str, NDArray[np.generic]]:
        """Return the rows observed, or β."""
        return {**super().state(), "observing": np.array(self.observing)}

    def restore(self, state: dict[str, NDArray[np.generic]]) -> None:
        """Take up saved arrays."""
        super().restore(state)
        self.observing = bool(state["observing"])


@entry
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

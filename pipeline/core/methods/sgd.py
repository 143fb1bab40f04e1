"""SGD under partial feedback (Algorithm 3): a gradient step a label, O(d) a round.

Accept when μ(x'β_t) + s_t ≥ c with s_t = L(1+δ)·d_t·‖x‖, where d_t bounds ‖β_t − β*‖. A label
moves β only where it is further from the mean than noise and accuracy explain. docs/theory.md says
what was chosen where the paper leaves a choice.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.core.kernels.rows import FloatArray
from pipeline.core.methods.base import Method, Setting, check_number, register
from pipeline.core.models.base import BetaModel, Model, ModelSpec


@register
@dataclass(frozen=True)
class Sgd(Method):
    """Add alpha·s_t; alpha = 1 is Algorithm 3.

    Attributes:
        initial_distance: d₀ ≥ ‖β₀ − β*‖; as β₀ = 0, any bound of ‖β*‖ serves.
        accuracy: the paper's α: labels closer than α + B to the mean teach nothing.
        noise_bound: B, with |ε_t| ≤ B.
        distance_slack: δ in s_t = L(1+δ)·d_t·‖x‖.
        radius: r of the projection onto {|x'β| ≤ r}; None leaves it out (μ' = 1 needs none).
        high_cutoff: take −s_t instead, as the remark after Proposition 2 does for c above the
            average mean.
    """

    name = "sgd"
    uses_width = True
    accepts_ties = True
    initial_distance: float = 1.0
    accuracy: float = 0.1
    noise_bound: float = 1.0
    distance_slack: float = 1.0
    radius: float | None = None
    high_cutoff: bool = False

    def __post_init__(self) -> None:
        """Refuse bounds that bound nothing."""
        for name in ("initial_distance", "accuracy", "distance_slack"):
            check_number(self, name)
        check_number(self, "noise_bound", least=0)
        if self.radius is not None:
            check_number(self, "radius")

    @staticmethod
    def bonus(t: float, alpha: float, score: float, width: float, draws: Any) -> float:
        """Return alpha·width, the width being d_t·‖x‖; all the rest of s_t is in alpha."""
        return alpha * width

    def coefficient(self, alpha: float, setting: Setting) -> float:
        """Return ±alpha·L(1+δ), twice that on the contrast scale, which is twice as steep."""
        steepness = setting.link.lipschitz * (2.0 if setting.contrast else 1.0)
        sign = -1.0 if self.high_cutoff else 1.0
        return sign * alpha * steepness * (1.0 + self.distance_slack)

    def make_model(self, spec: ModelSpec) -> Model:
        """Return the iterate β_t with its bound d_t."""
        return Iterate(spec, self)


class Iterate(BetaModel):
    """β_t, from β₀ = 0, and d_t; the ridge of the spec has no part in Algorithm 3.

    Attributes:
        distance_: d_t.
        n_updates_: how many labels moved β.
        n_impossible_: how many of them made d_t² negative, which the premises rule out.
    """

    def __init__(self, spec: ModelSpec, method: Sgd) -> None:
        self.method = method
        super().__init__(spec)

    def start(self, n_columns: int) -> None:
        """Return to β₀ = 0 and d₀."""
        super().start(n_columns)
        self.distance_ = float(self.method.initial_distance)
        self.n_updates_ = self.n_impossible_ = 0

    def width(self, X: FloatArray) -> FloatArray:
        """Return d_t·‖x‖."""
        rows = self.columns(X)
        length: FloatArray = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        return self.distance_ * length

    def update(self, X: FloatArray, y: FloatArray) -> None:
        """Take a gradient step for each label, in order."""
        for x, label in zip(self.columns(X), y, strict=True):
            self._step(x, float(label))

    def _step(self, x: FloatArray, label: float) -> None:
        """Move β and d_t where |y − μ(x'β)| > α + B (Algorithm 3); x = 0 teaches nothing."""
        method, L = self.method, self.spec.link.lipschitz
        square = float(x @ x)
        residual = label - self.spec.link.mean(float(x @ self.beta))
        if square == 0.0 or abs(residual) <= method.accuracy + method.noise_bound:
            return
        self.beta += residual / (L * square) * x
        if method.radius is not None:
            z = float(x @ self.beta)  # β goes to the nearest point of {|x'β| ≤ r}
            self.beta -= (z - min(max(z, -method.radius), method.radius)) / square * x
        left = self.distance_**2 - method.accuracy**2 / (square * L**2)
        self.distance_ = math.sqrt(max(left, 0.0))
        self.n_updates_ += 1
        self.n_impossible_ += left < 0.0

    def state(self) -> dict[str, NDArray[np.generic]]:
        """Return β_t, d_t and the counts."""
        return {
            "beta": self.beta.copy(),
            "distance": np.array(self.distance_),
            "counts": np.array([self.n_updates_, self.n_impossible_]),
        }

    def restore(self, state: dict[str, NDArray[np.generic]]) -> None:
        """Take up β_t, d_t and the counts."""
        self.beta = np.array(state["beta"], dtype=np.float64)
        self.distance_ = float(state["distance"])
        self.n_updates_, self.n_impossible_ = (int(n) for n in state["counts"])

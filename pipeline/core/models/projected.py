"""A GLM whose coefficients stay in a ball, as Algorithm 2 asks.

When the fit β̂ leaves the ball of radius M, the model scores with
argmin over ‖β‖ ≤ M of ‖g(β) − g(β̂)‖ in the norm of A⁻¹, g(β) = l2·β + Σ x μ(x'β).
The sum runs over every row learned, the warm start included, as the fit's own does.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from pipeline.core.kernels.inverse import gram
from pipeline.core.kernels.memory import state_of
from pipeline.core.kernels.rows import FloatArray
from pipeline.core.models.base import ModelSpec
from pipeline.core.models.glm import GLM

GAUSS_NEWTON_STEPS = 50
# A step that brings nothing is halved, down to a hundred-millionth.
STEP_LENGTHS = 0.5 ** np.arange(27)


class ProjectedGLM(GLM):
    """A GLM that projects when ‖β̂‖ > M; everything else is inherited."""

    def __init__(self, spec: ModelSpec, coef_bound: float) -> None:
        super().__init__(spec)
        self.coef_bound = coef_bound
        self._projected: FloatArray | None = None

    @property
    def scoring_beta(self) -> FloatArray:
        """The fitted coefficients, or the projected ones."""
        return self.beta if self._projected is None else self._projected

    def fit(self, X: FloatArray, y: FloatArray) -> None:
        """Learn the warm start, then project."""
        super().fit(X, y)
        self._project()

    def update(self, X: FloatArray, y: FloatArray) -> None:
        """Learn rows, then project."""
        super().update(X, y)
        self._project()

    def restore(self, state: dict[str, NDArray[np.generic]]) -> None:
        """Take up saved arrays, then project."""
        super().restore(state)
        self._project()

    def _project(self) -> None:
        if np.linalg.norm(self.beta) <= self.coef_bound:
            self._projected = None
            return
        A = gram(state_of(self.fitted).learned)  # its lower triangle
        if self.linear:
            self._projected = nearest_in_ball(A, self.beta, self.coef_bound)
        else:
            self._projected = self._gauss_newton(A + np.tril(A, -1).T, self.beta)

    def _gauss_newton(self, A: FloatArray, target: FloatArray) -> FloatArray:
        """Minimise ‖g(β) − g(target)‖ in the A⁻¹ norm over the ball, from the scaled target."""
        X, penalty = self._X[: self._n], state_of(self.fitted).learned.penalty
        mean, slope = np.vectorize(self.spec.link.mean), np.vectorize(self.spec.link.slope)
        goal = penalty * target + X.T @ mean(X @ target)

        def residual(beta: FloatArray) -> tuple[FloatArray, float]:
            r = penalty * beta + X.T @ mean(X @ beta) - goal
            return r, float(r @ np.linalg.solve(A, r))

        beta = target * (self.coef_bound / np.linalg.norm(target))
        r, value = residual(beta)
        for _ in range(GAUSS_NEWTON_STEPS):
            J = np.diag(penalty) + (X * slope(X @ beta)[:, None]).T @ X
            Q = J @ np.linalg.solve(A, J)
            step = nearest_in_ball(Q, beta - np.linalg.solve(J, r), self.coef_bound) - beta
            for length in STEP_LENGTHS:
                trial, trial_value = residual(beta + length * step)
                if trial_value < value:
                    break
            else:
                return beta
            beta, r, value = beta + length * step, trial, trial_value
        return beta


def nearest_in_ball(Q: FloatArray, target: FloatArray, radius: float) -> FloatArray:
    """Return argmin of (β − target)'Q(β − target) over ‖β‖ ≤ radius.

    On the sphere (Q + νI)β = Q·target for the one ν ≥ 0 that gives β the right length. Only the
    lower triangle of Q is read.
    """
    if np.linalg.norm(target) <= radius:
        return target.copy()
    values, vectors = np.linalg.eigh(Q)
    values = np.maximum(values, 0.0)
    turned = vectors.T @ target

    def shrunk(log_nu: float) -> FloatArray:
        kept: FloatArray = values / (values + np.exp(log_nu)) * turned
        return kept

    def excess(log_nu: float) -> float:
        return float(np.linalg.norm(shrunk(log_nu))) - radius

    positive = values[values > 0]
    low = np.log(positive.min()) - 40.0
    high = np.log(positive.max()) + np.log(np.linalg.norm(target) / radius) + 1.0
    log_nu = brentq(excess, low, high, xtol=1e-13) if excess(low) > 0 > excess(high) else low
    beta: FloatArray = vectors @ shrunk(log_nu)
    beta *= radius / float(np.linalg.norm(beta))
    return beta

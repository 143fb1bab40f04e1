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
from pipeline.core.kernels.lane import State
from pipeline.core.kernels.rows import FloatArray
from pipeline.core.models.base import ModelSpec
from pipeline.core.models.glm import GLM

GAUSS_NEWTON_STEPS = 50


class ProjectedGLM(GLM):
    """A GLM that projects when ‖β̂‖ > M; everything else is inherited."""

    def __init__(self, spec: ModelSpec, coef_bound: float) -> None:
        super().__init__(spec)
        self.coef_bound = coef_bound
        self._scoring: State | None = None

    @property
    def scoring_state(self) -> State:
        """The fitted state, or one with the projected coefficients."""
        return self.kernel_state if self._scoring is None else self._scoring

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
        state = self.kernel_state
        beta = state.fit.beta
        if np.linalg.norm(beta) <= self.coef_bound:
            self._scoring = None
            return
        A = full(gram(state.learned))
        if self.kind.linear:
            projected = nearest_in_ball(A, beta, self.coef_bound)
        else:
            projected = self._gauss_newton(A, beta)
        self._scoring = state._replace(fit=state.fit._replace(beta=projected))

    def _gauss_newton(self, A: FloatArray, target: FloatArray) -> FloatArray:
        """Minimise ‖g(β) − g(target)‖ in the A⁻¹ norm over the ball, from the scaled target."""
        X, penalty = self._X[: self._n], self.kernel_state.fit.penalty
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
            length = 1.0
            while length > 1e-8:
                trial, trial_value = residual(beta + length * step)
                if trial_value < value:
                    break
                length /= 2.0
            else:
                return beta
            beta, r, value = beta + length * step, trial, trial_value
        return beta


def full(lower: FloatArray) -> FloatArray:
    """Return the symmetric matrix with that lower triangle."""
    L = np.tril(lower)
    return L + np.tril(L, -1).T


def nearest_in_ball(Q: FloatArray, target: FloatArray, radius: float) -> FloatArray:
    """Return argmin of (β − target)'Q(β − target) over ‖β‖ ≤ radius.

    On the sphere (Q + νI)β = Q·target for the one ν ≥ 0 that gives β the right length.
    """
    if np.linalg.norm(target) <= radius:
        return target.copy()
    values, vectors = np.linalg.eigh(full(Q))
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
    length = float(np.linalg.norm(beta))
    projected: FloatArray = beta * (radius / length)
    return projected

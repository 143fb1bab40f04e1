"""Penalised logistic regression by plain Newton steps: the truth the solvers are held against."""

from __future__ import annotations

import numpy as np


def available() -> tuple[bool, str]:
    """Only numpy is needed."""
    return True, f"numpy {np.__version__}"


def sigmoid(z: np.ndarray) -> np.ndarray:
    """μ(z) = 1 / (1 + exp(-z)), without overflow."""
    return 0.5 * (1.0 + np.tanh(0.5 * z))


def newton_logistic(
    X: np.ndarray,
    y: np.ndarray,
    l2: float = 1.0,
    start: np.ndarray | None = None,
    max_steps: int = 100,
) -> np.ndarray:
    """The b with X'(y - μ(Xb)) = l2·b; steps are halved while the loss would grow."""
    b = np.zeros(X.shape[1]) if start is None else start.astype(float)
    for _ in range(max_steps):
        mean = sigmoid(X @ b)
        gradient = X.T @ (mean - y) + l2 * b
        hessian = (X.T * (mean * (1.0 - mean))) @ X + l2 * np.eye(len(b))
        step = np.linalg.solve(hessian, gradient)
        size = 1.0
        while size > 1e-6 and _loss(X, y, b - size * step, l2) > _loss(X, y, b, l2) + 1e-9:
            size /= 2.0
        b = b - size * step
        if np.max(np.abs(step)) < 1e-11:
            break
    return b


def _loss(X: np.ndarray, y: np.ndarray, b: np.ndarray, l2: float) -> float:
    """Σ log(1 + exp(x'b)) - y·x'b + l2/2·‖b‖²."""
    z = X @ b
    return float(np.sum(np.logaddexp(0.0, z) - y * z) + 0.5 * l2 * b @ b)

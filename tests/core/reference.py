"""Independent truth for the tests of core: naive formulas, no kernel of ours.

Sums and solves are in extended precision, so that what a test measures is the error of the code
under test and not that of its reference.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, ndtr

Array = np.ndarray
Curves = Callable[[Array], Array]
EPS = float(np.finfo(np.float64).eps)
LONG = np.longdouble


@dataclass(frozen=True)
class Curve:
    """A link written down again: μ, μ' and ∫μ (whose sum makes the fit a convex problem)."""

    mean: Curves
    slope: Curves
    integral: Curves


def _density(z: Array) -> Array:
    return np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)


def _normal(z: Array) -> Array:
    return ndtr(z.astype(np.float64)).astype(z.dtype)


CURVES = {
    "linear": Curve(lambda z: z, np.ones_like, lambda z: z**2 / 2),
    "logistic": Curve(expit, lambda z: expit(z) * expit(-z), lambda z: np.logaddexp(0, z)),
    "probit": Curve(_normal, _density, lambda z: z * _normal(z) + _density(z)),
}


def design(X: Array, intercept: bool) -> Array:
    """X with a last column of ones if there is an intercept."""
    return np.column_stack([X, np.ones(len(X))]) if intercept else X


def ridge_penalty(n_features: int, l2: float, intercept: bool, penalised: bool) -> Array:
    """Diagonal of the ridge, the intercept last if there is one."""
    return np.array([l2] * n_features + [l2 * penalised] * intercept)


def gram(D: Array, penalty: Array, weight: Array | float = 1.0) -> Array:
    """diag(penalty) + Σ w x x'."""
    wide = D.astype(LONG)
    return np.diag(penalty.astype(LONG)) + np.einsum("ni,nj->ij", wide * np.c_[weight], wide)


def solve(A: Array, B: Array) -> Array:
    """A⁻¹B by elimination with pivoting; B is a vector or a matrix."""
    d = len(A)
    T = np.column_stack([A, B]).astype(LONG)
    for k in range(d):
        pivot = k + int(np.argmax(np.abs(T[k:, k])))
        T[[k, pivot]] = T[[pivot, k]]
        T[k] /= T[k, k]
        others = np.arange(d) != k
        T[others] -= np.outer(T[others, k], T[k])
    return T[:, d] if B.ndim == 1 else T[:, d:]


def widths(D: Array, A: Array) -> Array:
    """sqrt(x'A⁻¹x) of every row."""
    return np.sqrt(np.einsum("ij,ji->i", D, solve(A, D.T))).astype(np.float64)


def best_fit(D: Array, y: Array, penalty: Array, curve: Curve) -> tuple[Array, Array]:
    """β of Σ x(y − μ(x'β)) = penalty∘β, by damped Newton steps from 0, and the Hessian there."""
    D = D.astype(LONG)
    beta = np.zeros(D.shape[1], dtype=LONG)

    def value(b: Array) -> LONG:
        z = D @ b
        return (curve.integral(z) - y * z).sum() + (penalty * b**2).sum() / 2

    for _ in range(500):
        z = D @ beta
        gradient = D.T @ (curve.mean(z) - y) + penalty * beta
        H = gram(D, penalty, curve.slope(z))
        step = solve(H, gradient)
        squared = float(gradient @ step)
        length = 1.0
        while squared > 1e-6 and value(beta - length * step) > value(beta) - length * squared / 9:
            length /= 2
        beta = beta - length * step
        if squared <= 1e-20:
            return beta, H
    raise AssertionError(f"the reference did not converge: its decrement² is {squared}")


def scale_free_cond(H: Array) -> float:
    """Condition of H with its columns brought to one scale: what a solver cannot avoid."""
    scale = np.sqrt(np.diag(H))
    return float(np.linalg.cond((H / np.outer(scale, scale)).astype(np.float64)))


def assert_scores(found: Array, truth: Array, cond: float, least: float = 0.0) -> None:
    """Scores agree to 1e-8 + cond·eps, relative to the largest one, or to ``least``."""
    truth = truth.astype(np.float64)
    error = np.abs(found - truth).max() / max(np.abs(truth).max(), least)
    limit = 1e-8 + cond * EPS
    assert error <= limit, f"scores are off by {error:.1e}, the limit is {limit:.1e}"


@dataclass(frozen=True)
class Table:
    """Rows with labels of both kinds; the 0/1 labels have the real ones as log-odds."""

    X: Array
    real: Array
    binary: Array


def _one_hot(rng: np.random.Generator, n: int) -> Array:
    return np.hstack([np.eye(k)[rng.integers(0, k, n)] for k in (3, 5, 7)])


def _collinear(rng: np.random.Generator, n: int) -> Array:
    X = rng.normal(size=(n, 4))
    return np.column_stack([X, X[:, 0] + X[:, 1], X[:, 2], np.ones(n)])


def _eeg(rng: np.random.Generator, n: int) -> Array:
    """Like EEG Eye State: around 4000 ± 50 with outliers up to 7·10⁵."""
    X = 4000 + 50 * rng.normal(size=(n, 8))
    X[rng.random(X.shape) < 0.002] = 7e5
    return X


FEATURES = {
    "random": lambda rng, n: rng.normal(size=(n, 6)),
    "one_hot": _one_hot,
    "collinear": _collinear,
    "eeg": _eeg,
    "churn": lambda rng, n: np.abs(rng.normal(size=(n, 8))) * np.geomspace(1e-3, 2e5, 8),
    "separable": lambda rng, n: rng.normal(size=(n, 4)),
    "wide": lambda rng, n: rng.normal(size=(n, 40)),
}


def make_table(name: str, n: int = 300, seed: int = 0) -> Table:
    """Return n rows of the kind of that name."""
    rng = np.random.default_rng(seed)
    X = FEATURES[name](rng, n)
    centred = X - np.median(X, axis=0)
    spread = 1.5 * np.median(np.abs(centred), axis=0)  # that of most rows, whatever the outliers
    Z = np.clip(centred / np.where(spread > 0, spread, 1.0), -5, 5)
    real = Z @ rng.normal(size=X.shape[1]) / np.sqrt(X.shape[1]) + 0.1 * rng.normal(size=n)
    if name == "separable":
        return Table(X, real, (X[:, 0] > 0.3 * X[:, 1]).astype(np.float64))
    return Table(X, real, (rng.random(n) < expit(2 * real)).astype(np.float64))

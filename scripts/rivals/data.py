"""Seeded data of the shapes the benchmark asks for: dense normal rows, and Adult's one-hot rows."""

from __future__ import annotations

import numpy as np

# Adult: 8 categoricals (102 columns) and 5 numerics in 4 buckets each, 122 columns in all.
ADULT_CARDINALITIES = (9, 16, 7, 15, 6, 5, 2, 42, 4, 4, 4, 4, 4)


def available() -> tuple[bool, str]:
    """Only numpy is needed."""
    return True, f"numpy {np.__version__}"


def dense(n: int, d: int, seed: int, constant: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """Make n standard normal rows of d columns and 0/1 labels, P(y=1) = sigmoid(2·x'w), ‖w‖ = 1.

    With `constant` the last of the d columns is 1 and has no weight, so half of the labels are 1.
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    w = rng.standard_normal(d)
    if constant:
        X[:, -1], w[-1] = 1.0, 0.0
    return X, _labels(2.0 * X @ (w / np.linalg.norm(w)), rng)


def onehot(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Make n rows with exactly 13 ones among 122 columns, skewed categories, and 0/1 labels.

    Category k of a feature has a frequency proportional to (k + 1)^-1.5; P(y=1) = sigmoid(x'w)
    with w normal (sd 0.7), shifted so that the mean of x'w is -1 (about three in ten labels are 1).
    """
    rng = np.random.default_rng(seed)
    X = np.zeros((n, sum(ADULT_CARDINALITIES)))
    start = 0
    for cardinality in ADULT_CARDINALITIES:
        X[np.arange(n), start + _categories(n, cardinality, rng)] = 1.0
        start += cardinality
    z = X @ (0.7 * rng.standard_normal(X.shape[1]))
    return X, _labels(z - z.mean() - 1.0, rng)


def _categories(n: int, cardinality: int, rng: np.random.Generator) -> np.ndarray:
    weight = np.arange(1, cardinality + 1) ** -1.5
    return rng.choice(cardinality, size=n, p=weight / weight.sum())


def _labels(z: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    labels: np.ndarray = (rng.random(len(z)) < 1.0 / (1.0 + np.exp(-z))).astype(float)
    return labels

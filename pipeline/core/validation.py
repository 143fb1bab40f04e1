"""Checks of what users hand in: clear errors before anything changes."""

from __future__ import annotations

from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline.core.kernels.rows import FloatArray
from pipeline.core.kernels.streaming import LARGEST
from pipeline.core.links import Link


def features(X: ArrayLike, n_features: int | None = None) -> FloatArray:
    """Return X as a finite float64 matrix with the expected number of columns."""
    matrix = _numbers(X, "X must be a matrix")
    if matrix.ndim != 2:
        raise ValueError(f"X must have two dimensions (rows, features), got shape {matrix.shape}")
    if n_features is not None and matrix.shape[1] != n_features:
        raise ValueError(f"X has {matrix.shape[1]} features, the learner knows {n_features}")
    bad = ~(np.abs(matrix) <= LARGEST)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise ValueError(
            f"X[{row}, {column}] is {matrix[row, column]}; features must be finite, and at most "
            f"{LARGEST:g} so that their squares can be summed"
        )
    return matrix


def labels(y: ArrayLike, n: int, link: Link) -> FloatArray:
    """Return y as n finite labels, 0/1 where the link asks for it."""
    vector = _numbers(y, "y must be a vector")
    if vector.shape != (n,):
        raise ValueError(f"y must have one label for each of {n} rows, got shape {vector.shape}")
    if not np.isfinite(vector).all():
        raise ValueError(f"y[{int(np.argmin(np.isfinite(vector)))}] is not a finite number")
    if link.binary and not np.isin(vector, (0.0, 1.0)).all():
        worst = vector[~np.isin(vector, (0.0, 1.0))][0]
        raise ValueError(f"labels of the {link.name} link must be 0 or 1, got {worst:g}")
    return vector


def _numbers(values: ArrayLike, what: str) -> FloatArray:
    try:
        return np.ascontiguousarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{what} of numbers: {error}") from None


def alpha_value(alpha: float) -> float:
    """Return alpha ≥ 0."""
    if not (isinstance(alpha, Real) and np.isfinite(alpha) and alpha >= 0):
        raise ValueError(f"alpha must be a finite number >= 0, got {alpha!r}")
    return float(alpha)


def cutoff_value(cutoff: float) -> float:
    """Return a finite cutoff."""
    if not (isinstance(cutoff, Real) and np.isfinite(cutoff)):
        raise ValueError(f"cutoff must be a finite number on the score scale, got {cutoff!r}")
    return float(cutoff)


def row_ids(ids: ArrayLike) -> NDArray[np.int64]:
    """Return ids as a vector of integers without repeats."""
    vector = np.asarray(ids)
    if vector.size == 0:
        return np.empty(0, dtype=np.int64)
    if vector.ndim != 1 or not np.issubdtype(vector.dtype, np.integer):
        raise ValueError("ids must be a vector of integers, as Decision.ids gives them")
    grows = (vector[1:] > vector[:-1]).all()
    if not grows and len(np.unique(vector)) != len(vector):
        raise ValueError("ids holds the same row twice")
    return vector.astype(np.int64)

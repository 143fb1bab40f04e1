"""Which decisions a linear threshold can make, the slow and certain way: one LP a pattern."""

from __future__ import annotations

import itertools

import numpy as np
from scipy.optimize import linprog

Pattern = tuple[bool, ...]


def feasible_patterns(X: np.ndarray, z: float) -> set[Pattern]:
    """All 1{x_i'β > z} that some β makes without a tie, rows of zeros left out."""
    return {
        pattern
        for pattern in itertools.product((True, False), repeat=len(X))
        if has_solution(X, z, np.array(pattern))
    }


def has_solution(X: np.ndarray, z: float, pattern: np.ndarray) -> bool:
    """Whether some β has x_i'β > z where the pattern is True and x_i'β < z elsewhere."""
    sign = np.where(pattern, 1.0, -1.0)
    n, d = X.shape
    found = linprog(  # the largest margin m ≤ 1 with sign·(x'β − z) ≥ m
        np.append(np.zeros(d), -1.0),
        A_ub=np.column_stack([-sign[:, None] * X, np.ones(n)]),
        b_ub=-sign * z,
        bounds=[(None, None)] * d + [(None, 1.0)],
    )
    return bool(found.status == 0 and found.x[-1] > 1e-9)

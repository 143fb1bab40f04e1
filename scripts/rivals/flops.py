"""The floating-point bound: flops of the updates ÷ measured double-precision peak of one core."""

from __future__ import annotations

from time import perf_counter

import numpy as np

from .probe import probe


def available() -> tuple[bool, str]:
    """Is threadpoolctl there? It is needed to hold BLAS to one thread."""
    return probe("threadpoolctl", "threadpoolctl")


def peak_flops(sizes: tuple[int, ...] = (384, 768, 1536), seconds: float = 0.5) -> float:
    """Largest rate (flops per second, one thread) of any dgemm run; `seconds` for each size."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1):
        return max(_gemm_rate(size, seconds) for size in sizes)


def linear_update_flops(
    d: int, n_width: int, n_accepted: int, n_scored: int = 0, keep_gram: bool = True
) -> float:
    """Flops a linear batch-1 run cannot avoid: 2d²·widths + 4d²·accepted + 2d·scores.

    An accepted row costs u = A⁻¹x (2d²) and the symmetric rank-one changes of A⁻¹ (d²) and of A
    (d²; not counted with keep_gram=False). So `n_width` counts the widths of rejected rows only:
    the width of an accepted row comes with its u and must not be counted twice.
    """
    per_accepted = (4.0 if keep_gram else 3.0) * d * d
    return 2.0 * d * d * n_width + per_accepted * n_accepted + 2.0 * d * n_scored


def bound_seconds(flops: float, peak: float) -> float:
    """Time of `flops` at the measured peak."""
    return flops / peak


def _gemm_rate(size: int, seconds: float) -> float:
    """Best rate of square products of one size, repeated for about `seconds`."""
    a, b = np.random.default_rng(0).standard_normal((2, size, size))
    out = np.empty((size, size))
    np.matmul(a, b, out=out)
    best, end = np.inf, perf_counter() + seconds
    while perf_counter() < end:
        start = perf_counter()
        np.matmul(a, b, out=out)
        best = min(best, perf_counter() - start)
    return 2.0 * size**3 / best

"""Exact sums: the same for every order of rows and on every machine, as math.fsum, but fast."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pipeline.data.threads import many

FloatArray = NDArray[np.float64]
CHUNK = 1 << 15
EXTRA = 16  # 2^EXTRA >= CHUNK + 2
HUGE = 2.0**900
ROUNDS = 8  # of a compiled sum, on average; two are usual


def extent(x: FloatArray) -> tuple[float, float]:
    """Return the least and the largest number."""
    return float(x.min()), float(x.max())


def exact_sum(x: FloatArray, ends: tuple[float, float] | None = None) -> float:
    """Return Σx of finite numbers, correctly rounded; ``ends`` are their extent, where known.

    By ExtractVector of Rump, Ogita & Oishi (SIAM J. Sci. Comput. 31(1), 2008): with σ = 2^EXTRA
    times a power of two above all |x|, q = (σ + x) − σ are the leading bits of x; these and the
    rest x − q are exact, and so is Σq in floating point. Repeat with the rest until it is 0.
    """
    found = None
    if many(len(x)):
        low, high = ends or extent(x)
        found = _compiled(x, 0.0, False, max(high, -low))
    return math.fsum(_parts(x) if found is None else found)


def exact_sum_of_squares(
    x: FloatArray, centre: float, ends: tuple[float, float] | None = None
) -> float:
    """Return Σ(x − centre)², each square a finite rounded number, their sum correctly rounded."""
    found = None
    if many(len(x)):
        low, high = ends or extent(x)
        farthest = max(high - centre, centre - low)
        found = _compiled(x, centre, True, farthest * farthest)
    return math.fsum(_parts((x - centre) ** 2) if found is None else found)


def _parts(x: FloatArray) -> list[float]:
    """Return a few numbers with the same exact sum."""
    parts: list[float] = []
    for start in range(0, len(x), CHUNK):
        rest = x[start : start + CHUNK]
        while largest := float(np.abs(rest).max()):
            if largest > HUGE:
                parts.extend(rest.tolist())
                break
            sigma = math.ldexp(1.0, math.frexp(largest)[1] + EXTRA)
            leading = (rest + sigma) - sigma
            parts.append(float(leading.sum()))
            rest = rest - leading
    return parts


def _compiled(
    x: FloatArray, centre: float, squared: bool, largest: float
) -> NDArray[np.float64] | None:
    """Return parts as :func:`_parts` does; None where numbers are too large or too different."""
    from pipeline.data import kernels  # compiling takes longer than a short sum

    if largest > HUGE:
        return None
    parts = np.empty(2 * ROUNDS * (len(x) // kernels.CHUNK + 1))
    rest, moved = scratch = np.empty((2, kernels.CHUNK))
    bits, top = scratch.view(np.int64), math.frexp(largest)[1]
    count = kernels.sum_parts(x, centre, squared, top, rest, moved, bits, parts)
    return None if count == kernels.TOO_MANY else parts[:count]

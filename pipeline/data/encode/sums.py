"""Exact sums: the same for every order of rows and on every machine, as math.fsum, but fast."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
CHUNK = 1 << 15
EXTRA = 16  # 2^EXTRA >= CHUNK + 2
HUGE = 2.0**900


def exact_sum(x: FloatArray) -> float:
    """Return Σx, correctly rounded.

    By ExtractVector of Rump, Ogita & Oishi (SIAM J. Sci. Comput. 31(1), 2008): with σ = 2^EXTRA
    times a power of two above all |x|, q = (σ + x) − σ are the leading bits of x; these and the
    rest x − q are exact, and so is Σq in floating point. Repeat with the rest until it is 0.
    """
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
    return math.fsum(parts)

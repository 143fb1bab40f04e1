"""What is done to every number of a long column, compiled: one pass, no copy, without the GIL.

For short columns numpy does the same, with the same result: starting a kernel takes longer.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pipeline.core.jit import exact

CHUNK = 1 << 11  # the sum of so many 52-bit integers does not overflow, and all stays in the cache
TOO_MANY = -1
MAGNITUDE = (1 << 63) - 1  # all bits of a number but its sign


@exact
def load(x: Any, start: Any, count: Any, centre: Any, squared: Any, rest: Any) -> None:
    """Write a chunk of x, or of (x − centre)², to ``rest``.

    The squares go through memory: inside one expression they would be fused, not rounded.
    """
    for k in range(count):
        value = x[start + k]
        if squared:
            value -= centre
            value *= value
        rest[k] = value


@exact
def take_leading(rest: Any, rest_bits: Any, moved: Any, moved_bits: Any, n: Any, e: Any) -> Any:
    """Take the leading bits off ``rest``; return their sum / 2^(e − 52), and if any bits are left.

    With σ = 1.5·2^e and |x| ≤ 2^(e − 1) all σ + x lie between 2^e and 2^(e + 1), where the bits of
    a number, read as an integer, count steps of 2^(e − 52): so integers are summed, in any order.
    """
    sigma = math.ldexp(1.5, e)
    moved[0] = sigma
    zero = moved_bits[0]
    for k in range(n):
        moved[k] = rest[k] + sigma
        rest[k] -= moved[k] - sigma
    total = left = np.int64(0)
    for k in range(n):
        total += moved_bits[k] - zero
        left |= rest_bits[k]
    return total, (left & MAGNITUDE) != 0


@exact
def sum_parts(
    x: Any, centre: Any, squared: Any, top: Any, rest: Any, moved: Any, bits: Any, parts: Any
) -> Any:
    """Write numbers whose exact sum is Σx, or Σ(x − centre)², to ``parts``; return how many.

    No term is above 2^top; ``rest`` and ``moved`` have room for a chunk, ``bits`` are these two as
    integers. The answer is TOO_MANY where ``parts`` has no room.
    """
    found = 0
    for start in range(0, x.shape[0], CHUNK):
        n = min(CHUNK, x.shape[0] - start)
        load(x, start, n, centre, squared, rest)
        e, left = top + 1, True
        while left:
            if found + 2 > parts.shape[0]:
                return TOO_MANY
            e = max(e, -1022)  # then the step is the smallest number, and nothing is left
            total, left = take_leading(rest, bits[0], moved, bits[1], n, e)
            high = total >> 32
            parts[found] = math.ldexp(np.float64(high), e - 20)
            parts[found + 1] = math.ldexp(np.float64(total - (high << 32)), e - 52)
            found += 2
            e -= 52
    return found


@exact
def standardise(x: Any, missing: Any, shift: Any, scale: Any, out: Any) -> None:
    """Write (x − shift) / scale, where x is ``missing`` if it is NaN."""
    for k in range(x.shape[0]):
        value = np.float64(x[k])
        if np.isnan(value):
            value = missing
        out[k] = (value - shift) / scale

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pipeline.data.encode import kinds
from pipeline.data.encode.kinds import exact_sum

FINITE = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e300, max_value=1e300)
WIDE = st.integers(-300, 300).flatmap(
    lambda e: st.floats(-1, 1, allow_subnormal=False).map(lambda x: x * 10.0**e)
)


@given(arrays(np.float64, st.integers(0, 40), elements=FINITE | WIDE))
def test_as_fsum(x: np.ndarray) -> None:
    assert exact_sum(x) == math.fsum(x)


def test_as_fsum_over_several_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds, "CHUNK", 1000)
    rng = np.random.default_rng(0)
    x = rng.normal(size=4321) * 10.0 ** rng.integers(-300, 300, 4321)
    assert exact_sum(x) == math.fsum(x)
    assert exact_sum(rng.permutation(x)) == exact_sum(x)


def test_a_full_chunk_of_numbers_just_below_a_power_of_two() -> None:
    """Their leading bits add up to the most that a sum must hold exactly."""
    x = np.full(kinds.CHUNK, math.nextafter(1.0, 0.0))
    x[::3] -= 2.0**-40
    assert exact_sum(x) == math.fsum(x)


@pytest.mark.parametrize("x", [0.0, 5e-324, 1e-310, 1e300, 1.7e308])
def test_the_ends_of_the_range(x: float) -> None:
    terms = np.array([x, -x, x, 1e-320, x / 2])
    if x < 1e308:
        assert exact_sum(terms) == math.fsum(terms)
    else:
        assert exact_sum(terms[1:]) == math.fsum(terms[1:])

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pipeline.data import kernels, sums, threads
from pipeline.data.sums import exact_sum, exact_sum_of_squares

FINITE = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e300, max_value=1e300)


@given(arrays(np.float64, st.integers(0, 40), elements=FINITE))
def test_as_fsum(x: np.ndarray) -> None:
    assert exact_sum(x) == math.fsum(x)


def test_as_fsum_over_several_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sums, "CHUNK", 1000)
    rng = np.random.default_rng(0)
    x = rng.normal(size=4321) * 10.0 ** rng.integers(-300, 300, 4321)
    assert exact_sum(x) == math.fsum(x)
    assert exact_sum(rng.permutation(x)) == exact_sum(x)


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns of any length go through the kernels."""
    monkeypatch.setattr(threads, "MANY", 1)


WIDE = st.integers(-300, 300).flatmap(
    lambda e: st.floats(-1, 1, allow_subnormal=False).map(lambda x: x * 10.0**e)
)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(arrays(np.float64, st.integers(1, 40), elements=FINITE | WIDE))
@pytest.mark.usefixtures("compiled")
def test_the_kernel_gives_what_fsum_gives(x: np.ndarray) -> None:
    assert exact_sum(x) == math.fsum(x)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    arrays(np.float64, st.integers(1, 40), elements=st.floats(-1e100, 1e100)), st.floats(-1e9, 1e9)
)
@pytest.mark.usefixtures("compiled")
def test_squares_are_rounded_one_by_one_and_summed_exactly(x: np.ndarray, centre: float) -> None:
    """As numpy rounds them: a fused multiplication and addition would round but once."""
    assert exact_sum_of_squares(x, centre) == math.fsum((x - centre) ** 2)


@pytest.mark.parametrize("spread", [0, 8, 300])
def test_the_kernel_over_several_chunks(spread: int) -> None:
    """A spread of 300 leaves more parts than there is room for: numpy takes over."""
    rng = np.random.default_rng(0)
    n = threads.MANY + 4321
    x = rng.normal(size=n) * 10.0 ** rng.integers(-spread, spread + 1, n)
    assert n > 8 * kernels.CHUNK
    assert exact_sum(x) == math.fsum(x)
    if spread < 100:
        assert exact_sum_of_squares(x, 0.1) == math.fsum((x - 0.1) ** 2)


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("x", [0.0, 5e-324, 1e-310, 1e300, 1.7e308])
def test_the_ends_of_the_range(x: float) -> None:
    terms = np.array([x, -x, x, 1e-320, x / 2])
    if x < 1e308:
        assert exact_sum(terms) == math.fsum(terms)
    else:
        assert exact_sum(terms[1:]) == math.fsum(terms[1:])

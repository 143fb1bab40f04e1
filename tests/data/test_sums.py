from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pipeline.data import sums
from pipeline.data.sums import exact_sum

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

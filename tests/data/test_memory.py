from __future__ import annotations

import gc
import resource
from pathlib import Path

import numpy as np
import pytest

from pipeline.data import memory


@pytest.mark.parametrize("large", [0, memory.LARGE])
def test_zeros_are_as_those_of_numpy(large: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "LARGE", large)
    X = memory.zeros(5, 3)
    assert X.shape == (5, 3)
    assert X.dtype == np.float64
    assert X.flags.c_contiguous
    assert X.flags.writeable
    assert X.flags.aligned
    assert not X.any()
    X[2, 1] = 7.0
    assert X.copy().sum() == 7.0


@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
def test_nothing_is_a_matrix_too(shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "LARGE", 1)
    assert memory.zeros(*shape).shape == shape


def test_the_memory_is_given_back() -> None:
    rows = memory.LARGE // 8
    before = resident()
    for _ in range(20):
        memory.zeros(rows, 1).fill(1.0)
        gc.collect()
    assert resident() - before < 4 * memory.LARGE


def resident() -> int:
    statm = Path("/proc/self/statm")
    if not statm.is_file():
        pytest.skip("no /proc here")
    return int(statm.read_text().split()[1]) * resource.getpagesize()

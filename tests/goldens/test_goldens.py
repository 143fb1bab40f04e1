"""Small cells of every kind give the figures they gave before."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.goldens.cells import CELLS, figures, kept


def test_the_file_has_the_figures_of_every_cell() -> None:
    assert list(kept()) == list(CELLS)


@pytest.mark.parametrize("cell", CELLS)
def test_a_cell_gives_the_figures_it_gave(cell: str) -> None:
    assert_same(figures(cell), kept()[cell])


def assert_same(found: Any, expected: Any) -> None:
    """Compare nested values: counts and names exactly, numbers to the bits a processor may change.

    Sums of floats are taken in another order where the instruction set differs.
    """
    assert type(found) is type(expected)
    if isinstance(expected, dict):
        assert list(found) == list(expected)
        for key, value in expected.items():
            assert_same(found[key], value)
    elif isinstance(expected, list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other)
    elif isinstance(expected, float):
        np.testing.assert_allclose(found, expected, rtol=1e-9)
    else:
        assert found == expected

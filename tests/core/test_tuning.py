from __future__ import annotations

import numpy as np
import pytest

from pipeline.core.engine import Lane, Simulation, grid
from pipeline.core.tuning import tune


def simulation(lanes: list[Lane], loss: list[float]) -> Simulation:
    values = np.array(loss)
    n = len(lanes)
    curve, counts = values[:, None], np.zeros((n, 1, 5), np.int64)
    return Simulation(tuple(lanes), values, np.array([1]), curve, counts, curve, 1, None)


def test_alpha_is_chosen_by_the_mean_over_splits_not_split_by_split() -> None:
    lanes = grid(["margin"], [0.5, 2.0], [0.3], n_splits=2)
    # alpha 0.5 loses 1 and 9; alpha 2 loses 4 and 4: split by split 0.5 would win the first one
    result = tune(simulation(lanes, [1.0, 9.0, 4.0, 4.0]))["margin", 0.3]
    assert result.alpha == 2.0
    assert result.mean == 4.0
    assert result.standard_error == 0.0
    assert list(result.lanes) == [2, 3]


def test_standard_error_is_over_splits() -> None:
    lanes = grid(["greedy"], [0.5, 2.0], [0.3], n_splits=4)
    result = tune(simulation(lanes, [1.0, 2.0, 3.0, 6.0]))["greedy", 0.3]
    assert result.mean == 3.0
    assert result.standard_error == pytest.approx(np.std([1, 2, 3, 6], ddof=1) / 2)


def test_the_smallest_of_equally_good_alphas_is_taken_whatever_the_order() -> None:
    lanes = grid(["noise"], [4.0, 0.25, 1.0], [0.3], n_splits=1)
    result = tune(simulation(lanes, [5.0, 5.0, 5.0]))["noise", 0.3]
    assert result.alpha == 0.25
    assert np.isnan(result.standard_error)


def test_each_cutoff_is_tuned_for_itself() -> None:
    lanes = grid(["ours"], [1.0, 2.0], [0.1, 0.9], n_splits=1)
    result = tune(simulation(lanes, [1.0, 2.0, 2.0, 1.0]))
    assert result["ours", 0.1].alpha == 1.0
    assert result["ours", 0.9].alpha == 2.0

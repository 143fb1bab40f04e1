from __future__ import annotations

import numpy as np
import pytest

from pipeline.results.average import average_loss


def columns(n_splits: int, n_rounds: int) -> dict[str, np.ndarray]:
    """R_t = t·(1 + split): R_t/t is 1 + split in every round."""
    split, rounds = (
        np.repeat(np.arange(n_splits), n_rounds),
        np.tile(np.arange(1, n_rounds + 1), n_splits),
    )
    return {"split": split, "round": rounds, "loss": rounds * (1.0 + split)}


def test_mean_and_standard_error_by_hand() -> None:
    found = average_loss(columns(2, 5))
    assert found.rounds.tolist() == [1, 2, 3, 4, 5]
    np.testing.assert_allclose(found.mean, 1.5)
    np.testing.assert_allclose(found.error, np.sqrt(0.5) / np.sqrt(2))


def test_curves_may_come_in_any_order() -> None:
    split, rounds = np.array([1, 0, 1, 0]), np.array([20, 10, 10, 20])
    found = average_loss({"split": split, "round": rounds, "loss": 100.0 * split + rounds})
    assert found.rounds.tolist() == [10, 20]
    assert found.mean.tolist() == [(10 + 110) / 2 / 10, (20 + 120) / 2 / 20]


def test_one_split_has_no_error() -> None:
    assert np.isnan(average_loss(columns(1, 3)).error).all()


@pytest.mark.parametrize(("n_rounds", "points"), [(1000, 200), (7, 200), (1, 5), (10, 3)])
def test_thinning_keeps_both_ends(n_rounds: int, points: int) -> None:
    found = average_loss(columns(2, n_rounds)).thinned(points)
    assert len(found.rounds) == min(n_rounds, points)
    assert (found.rounds[0], found.rounds[-1]) == (1, n_rounds)
    assert len(found.mean) == len(found.error) == len(found.rounds)
    assert np.ptp(np.diff(found.rounds)) <= 1 if n_rounds > 1 else True

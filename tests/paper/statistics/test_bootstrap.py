from __future__ import annotations

import numpy as np
import pytest

from pipeline.paper.statistics.bootstrap import (
    N_RESAMPLES,
    Estimate,
    mean_of,
    mean_over_splits,
    ratio,
    weights,
)


def test_weights_are_counts_of_whole_resamples() -> None:
    weight = weights("adult", 10)
    assert weight.shape == (N_RESAMPLES, 10)
    assert N_RESAMPLES >= 2000
    np.testing.assert_allclose(weight.sum(axis=1), 1.0)
    np.testing.assert_allclose(10 * weight, (10 * weight).round())
    np.testing.assert_allclose(weight.mean(axis=0), 0.1, atol=0.01)


def test_a_dataset_has_the_same_resamples_every_time_and_others_have_others() -> None:
    np.testing.assert_array_equal(weights("adult", 10), weights("adult", 10))
    assert (weights("adult", 10) != weights("bank", 10)).any()


def test_the_spread_of_a_mean_is_its_standard_error() -> None:
    values = np.random.default_rng(0).normal(size=10)
    found = mean_over_splits(values, weights("adult", 10))
    assert found.value == pytest.approx(values.mean())
    assert found.resampled.std() == pytest.approx(values.std() / np.sqrt(10), rel=0.05)
    low, high = found.interval
    assert low < found.value < high


def test_a_ratio_of_paired_figures_has_no_spread_where_they_move_together() -> None:
    weight = weights("adult", 10)
    values = np.arange(1.0, 11.0)
    found = ratio(mean_over_splits(0.5 * values, weight), mean_over_splits(values, weight))
    assert found.value == pytest.approx(0.5)
    assert found.interval == pytest.approx((0.5, 0.5))


def test_a_mean_of_independent_figures_is_surer_than_each() -> None:
    rng = np.random.default_rng(0)
    names = [f"dataset {k}" for k in range(9)]
    every = [mean_over_splits(rng.normal(size=10), weights(name, 10)) for name in names]
    spread = np.mean([estimate.resampled.std() for estimate in every])
    assert mean_of(every).resampled.std() == pytest.approx(spread / 3, rel=0.25)


def test_a_ratio_to_nothing_is_not_told() -> None:
    nothing = Estimate(0.0, np.zeros(5))
    found = ratio(nothing, nothing)
    assert np.isnan(found.value)
    assert np.isnan(found.interval).all()

from __future__ import annotations

import numpy as np
import pytest

from pipeline.paper.estimates import (
    N_RESAMPLES,
    Estimate,
    line_slopes,
    mean_estimate,
    mean_of,
    mean_over_splits,
    power,
    ratio,
    weights,
    wilson_interval,
)

SIZES = np.array([1e3, 1e4, 1e5])


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


@pytest.mark.parametrize("exponent", [0.0, 0.5, 2 / 3, 1.0])
def test_a_power_law_has_its_power(exponent: float) -> None:
    losses = np.outer([1.0, 3.0, 5.0], SIZES**exponent)
    found = power(SIZES, losses, "any")
    assert found.value == pytest.approx(exponent, abs=1e-12)
    assert found.interval == pytest.approx((exponent, exponent), abs=1e-12)


def test_the_interval_of_a_power_covers_it_as_often_as_it_says() -> None:
    rng = np.random.default_rng(0)
    covered = []
    for _ in range(100):
        noise = rng.gamma(4.0, 0.25, size=(40, len(SIZES)))  # mean 1, so the mean is the power law
        low, high = power(SIZES, noise * SIZES**0.5, "any").interval
        covered.append(low <= 0.5 <= high)
    assert 0.87 <= np.mean(covered) <= 0.99


def test_the_power_is_that_of_the_mean_not_the_mean_of_powers() -> None:
    """One run in four is linear, the others stay where they are: the mean is nearly linear."""
    losses = np.vstack([SIZES, *[np.ones(3)] * 3])
    x, y = np.log10(SIZES), np.log10((SIZES + 3) / 4)
    assert power(SIZES, losses, "any").value == pytest.approx(np.polyfit(x, y, 1)[0])


@pytest.mark.parametrize("sizes", [[1000.0], [1000.0, 1000.0]])
def test_one_size_has_no_power(sizes: list[float]) -> None:
    with pytest.raises(ValueError, match="two different sizes"):
        power(np.array(sizes), np.ones((2, len(sizes))), "any")


def test_a_loss_of_nothing_has_no_power() -> None:
    assert not np.isfinite(power(SIZES, np.zeros((4, 3)), "any").value)


def test_slopes_are_those_of_polyfit() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=20), rng.normal(size=(5, 20))
    np.testing.assert_allclose(line_slopes(x, y), np.polyfit(x, y.T, 1)[0])


def test_the_interval_of_a_share_is_wilsons() -> None:
    z, k, n = 1.959964, 30, 200
    centre = (k / n + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(k / n * (1 - k / n) / n + z**2 / (4 * n**2))
    assert wilson_interval(k, n) == pytest.approx((centre - half, centre + half), rel=1e-5)
    assert wilson_interval(0, 50)[0] == 0.0
    assert wilson_interval(50, 50)[1] == 1.0


def test_a_mean_has_the_spread_of_a_mean() -> None:
    values = np.random.default_rng(2).normal(size=400)
    low, high = mean_estimate(values, "any").interval
    assert (high - low) / 2 == pytest.approx(1.96 * values.std() / 20, rel=0.1)

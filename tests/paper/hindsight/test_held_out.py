from __future__ import annotations

import numpy as np
import pytest

from pipeline.paper.by_setting import FRESH, REPORTED, Grid
from pipeline.paper.estimates import PERCENTILES, Estimate, weights
from pipeline.paper.hindsight.held_out import cells_of, lacking, survives, wins
from pipeline.paper.published import Setting

SPLITS = (*REPORTED, *FRESH)
SETTING = Setting("linear", "adult", "0.5")


def halves(*rows: tuple[float, float], alphas: tuple[float, ...] = (0.5, 1.0)) -> Grid:
    """Return losses that are constant on each half: a row an alpha, (reported, fresh)."""
    loss = [[reported] * 10 + [fresh] * 10 for reported, fresh in rows]
    return Grid(np.array(alphas[: len(rows)]), SPLITS, np.array(loss, dtype=float))


def random_grid(rng: np.random.Generator, n_alphas: int) -> Grid:
    return Grid(2.0 ** np.arange(n_alphas), SPLITS, rng.gamma(5.0, size=(n_alphas, 20)))


def test_a_best_alpha_that_differs_between_the_halves() -> None:
    greedy = Grid(np.zeros(1), SPLITS, np.full((1, 20), 10.0))
    # On the reported splits alpha = ½ is best (4), on the fresh ones alpha = 1, which costs 7.
    found = cells_of(SETTING, {"greedy": greedy, "ours": halves((4, 9), (7, 5))})
    hindsight, held_out = found["ours"]["hindsight"], found["ours"]["held_out"]
    assert (hindsight.alpha, held_out.alpha) == (0.5, 1.0)
    assert (hindsight.loss.value, held_out.loss.value) == (4.0, 7.0)
    assert hindsight.advantage.value == pytest.approx(0.6)
    assert held_out.advantage.value == pytest.approx(0.3)
    share = survives(hindsight.advantage, held_out.advantage)
    assert share == pytest.approx((0.5, 0.5, 0.5))
    assert found["greedy"]["hindsight"].ours_beats is not None
    assert hindsight.ours_beats is None


def test_ties_between_alphas_go_to_the_smallest_on_the_tuning_splits() -> None:
    greedy = halves((10, 10), alphas=(0.0,))
    found = cells_of(
        SETTING,
        {"greedy": greedy, "margin": halves((6, 5), (4, 5), (4, 9), alphas=(1.0, 2.0, 4.0))},
    )
    assert found["margin"]["hindsight"].alpha == 2.0
    assert found["margin"]["held_out"].alpha == 1.0


def test_held_out_is_never_better_than_hindsight() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        grids = {"greedy": random_grid(rng, 1), "ours": random_grid(rng, 15)}
        cell = cells_of(SETTING, grids)["ours"]
        assert cell["held_out"].loss.value >= cell["hindsight"].loss.value


def test_all_figures_are_those_of_a_naive_loop() -> None:
    rng = np.random.default_rng(2)
    grids = {"greedy": random_grid(rng, 1), "margin": random_grid(rng, 4)}
    grids["ours"] = random_grid(rng, 5)
    found = cells_of(SETTING, grids)["margin"]
    counts = (10 * weights("adult", 10)).round().astype(int)
    for way, first in (("hindsight", 0), ("held_out", 10)):
        losses = {m: naive_reported(grid.loss, first) for m, grid in grids.items()}
        advantages, beats = [], []
        for count in counts[:300]:
            drawn = [split for split in range(10) for _ in range(count[split])]
            total = {m: sum(loss[split] for split in drawn) for m, loss in losses.items()}
            advantages.append(1 - total["margin"] / total["greedy"])
            beats.append(sum(losses["ours"][s] < losses["margin"][s] for s in drawn) / 10)
        assert found[way].advantage.resampled[:300] == pytest.approx(advantages)
        assert found[way].ours_beats is not None
        assert found[way].ours_beats.resampled[:300] == pytest.approx(beats)
        low, high = np.percentile(found[way].advantage.resampled, PERCENTILES)
        assert found[way].advantage.interval == pytest.approx((low, high))


def naive_reported(loss: np.ndarray, first: int) -> list[float]:
    best, least = 0, float("inf")
    for row in range(len(loss)):
        mean = sum(loss[row, first + k] for k in range(10)) / 10
        if mean < least:
            best, least = row, mean
    return [float(loss[best, split]) for split in range(10)]


def test_a_tie_is_half_a_win() -> None:
    won = wins(np.array([1.0, 2.0, 3.0]), np.array([2.0, 2.0, 1.0]))
    assert won.tolist() == [1.0, 0.5, 0.0]


def test_nothing_is_told_where_splits_are_missing() -> None:
    whole, half = halves((2, 2)), Grid(np.ones(1), REPORTED, np.ones((1, 10)))
    assert lacking(None) == ["hindsight", "held_out"]
    assert lacking(half) == ["held_out"]
    assert lacking(whole) == []
    assert set(cells_of(SETTING, {"greedy": whole, "ours": half, "noise": whole})) == {
        "greedy", "noise",
    }  # fmt: skip
    assert cells_of(SETTING, {"greedy": half, "ours": whole}) == {}


def test_no_share_of_an_advantage_that_is_none_or_may_be_none() -> None:
    sure, unsure = np.full(100, 0.2), np.linspace(-0.1, 0.5, 100)
    assert np.isnan(survives(Estimate(-0.1, sure), Estimate(-0.2, sure))).all()
    value, low, high = survives(Estimate(0.2, unsure), Estimate(0.1, sure))
    assert value == pytest.approx(0.5)
    assert np.isnan([low, high]).all()

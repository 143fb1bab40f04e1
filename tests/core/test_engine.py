"""The engine's results: losses, curves, counts, groups, draws and the order of lanes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pipeline.core.engine import Lane, Split, grid, lane_key, simulate
from pipeline.core.kernels.draws import fill_draws
from pipeline.core.links import get_link
from pipeline.core.methods import get_method
from pipeline.core.methods.checks.streams import (
    LINK_NAMES,
    Stream,
    all_bytes,
    make_stream,
    run_engine,
)
from pipeline.core.models.base import ModelSpec

METHODS = ("greedy", "eps_greedy", "os_eps_greedy", "noise", "os_noise", "margin", "ours")


@pytest.fixture(scope="module")
def stream() -> Stream:
    return make_stream("logistic", n=150, n_splits=2)


def lanes_of(stream: Stream, methods=METHODS) -> list[Lane]:
    return grid(methods, [0.05, 0.5], [stream.cutoff, 0.5], len(stream.splits))


def losses(stream: Stream, lane: Lane, accepted: np.ndarray) -> np.ndarray:
    """Definition 1, row by row."""
    truth = stream.truth[stream.splits[lane.split].stream]
    return np.abs(truth - lane.cutoff) * ((truth > lane.cutoff) != accepted)


# --- grid -----------------------------------------------------------------------------------------


def test_grid_runs_methods_then_cutoffs_then_alphas_then_splits() -> None:
    lanes = grid(["greedy", "ours"], [0.1, 0.2], [0.5, 0.7], 2)
    assert [(lane.method.name, lane.cutoff, lane.alpha, lane.split) for lane in lanes] == [
        *[("greedy", 0.5, 0.0, 0), ("greedy", 0.5, 0.0, 1)],
        *[("greedy", 0.7, 0.0, 0), ("greedy", 0.7, 0.0, 1)],
        *[("ours", 0.5, 0.1, 0), ("ours", 0.5, 0.1, 1), ("ours", 0.5, 0.2, 0)],
        *[("ours", 0.5, 0.2, 1), ("ours", 0.7, 0.1, 0), ("ours", 0.7, 0.1, 1)],
        *[("ours", 0.7, 0.2, 0), ("ours", 0.7, 0.2, 1)],
    ]


def test_results_keep_the_order_of_lanes(stream: Stream) -> None:
    lanes = lanes_of(stream)[::-1]
    result = run_engine(stream, lanes, batch_size=10)
    assert result.lanes == tuple(lanes)
    for k in (0, 17, len(lanes) - 1):
        alone = run_engine(stream, [lanes[k]], batch_size=10)
        np.testing.assert_array_equal(alone.decisions[0], result.decisions[k])
        assert alone.loss[0] == result.loss[k]


def test_many_lanes_of_one_method_do_not_touch_each_other(stream: Stream) -> None:
    alphas = [0.02 * k for k in range(40)]
    lanes = grid(["ours"], alphas, [stream.cutoff], 1)
    for grow in ("label", "acceptance"):
        spec = ModelSpec(get_link("logistic"), grow=grow)
        together = run_engine(stream, lanes, batch_size=6, spec=spec).decisions
        alone = [run_engine(stream, [lane], batch_size=6, spec=spec).decisions[0] for lane in lanes]
        np.testing.assert_array_equal(together, alone)


# --- losses, curves, groups -----------------------------------------------------------------------


@pytest.mark.parametrize("batch", [1, 7, 150])
def test_loss_and_counts_follow_from_the_decisions(stream: Stream, batch: int) -> None:
    lanes = lanes_of(stream)
    result = run_engine(stream, lanes, batch_size=batch)
    for k, lane in enumerate(lanes):
        above = stream.truth[stream.splits[lane.split].stream] > lane.cutoff
        accepted = result.decisions[k]
        np.testing.assert_allclose(result.loss[k], losses(stream, lane, accepted).sum(), rtol=1e-12)
        assert result.accepted[k] == accepted.sum()
        assert result.missed[k] == (above & ~accepted).sum()
        assert result.wasted[k] == (~above & accepted).sum()
        assert result.counts[k, 0, :2].tolist() == [len(above), above.sum()]


@pytest.mark.parametrize("batch", [1, 7, 50, 1000])
def test_curve_is_the_running_loss_at_its_rounds(stream: Stream, batch: int) -> None:
    lanes = lanes_of(stream)
    result = run_engine(stream, lanes, batch_size=batch)
    n = len(stream.splits[0].stream)
    assert result.n_rounds == -(-n // batch)
    assert result.rounds[-1] == result.n_rounds
    assert (np.diff(result.rounds) > 0).all()
    ends = np.minimum(result.rounds * batch, n) - 1
    for k, lane in enumerate(lanes):
        running = losses(stream, lane, result.decisions[k]).cumsum()
        np.testing.assert_allclose(result.curve[k], running[ends], rtol=1e-12, atol=1e-15)
        assert result.curve[k, -1] == result.loss[k]
    assert (np.diff(result.curve, axis=1) >= 0.0).all()


@pytest.mark.parametrize("points", [1, 2, 10, 200])
def test_curve_is_thinned_and_exact_at_the_last_round(stream: Stream, points: int) -> None:
    lanes = lanes_of(stream, ["greedy"])
    full = run_engine(stream, lanes, curve_points=10**6)
    thin = run_engine(stream, lanes, curve_points=points)
    assert len(full.rounds) == full.n_rounds == 134
    assert len(thin.rounds) == min(points, 134)
    np.testing.assert_array_equal(thin.loss, full.loss)
    np.testing.assert_array_equal(thin.curve, full.curve[:, thin.rounds - 1])


def test_groups_add_up(stream: Stream) -> None:
    group = np.random.default_rng(1).choice([0, 1, 3], len(stream.y))
    lanes = lanes_of(stream)
    whole = run_engine(stream, lanes, batch_size=7)
    parts = run_engine(stream, lanes, batch_size=7, group=group)
    assert parts.counts.shape == (len(lanes), 4, 5)
    assert parts.group_loss.shape == (len(lanes), 4)
    np.testing.assert_array_equal(parts.decisions, whole.decisions)
    np.testing.assert_array_equal(parts.counts.sum(axis=1), whole.counts[:, 0])
    np.testing.assert_allclose(parts.group_loss.sum(axis=1), whole.loss, rtol=1e-12)
    np.testing.assert_array_equal(parts.loss, whole.loss)
    for k, lane in enumerate(lanes):
        rows = stream.splits[lane.split].stream
        accepted, above = parts.decisions[k], stream.truth[rows] > lane.cutoff
        for g in range(4):
            here = group[rows] == g
            assert parts.counts[k, g].tolist() == [
                *(here.sum(), (here & above).sum(), (here & accepted).sum()),
                *((here & above & ~accepted).sum(), (here & ~above & accepted).sum()),
            ]
            expected = losses(stream, lane, accepted)[here].sum()
            np.testing.assert_allclose(parts.group_loss[k, g], expected, rtol=1e-12, atol=1e-15)


def test_a_row_at_the_cutoff_is_not_above() -> None:
    """Accepting it is a mistake that costs nothing, rejecting it is right."""
    X, labels, truth = np.ones((6, 1)), np.zeros(6), np.full(6, 0.5)
    splits = [Split(np.arange(1), np.arange(1, 6))]
    lanes = grid(["os_eps_greedy", "greedy"], [9.0], [0.5], 1)
    result = simulate(X, labels, truth=truth, splits=splits, lanes=lanes)
    assert result.counts[:, 0].tolist() == [[5, 0, 5, 0, 5], [5, 0, 0, 0, 0]]
    assert result.loss.tolist() == [0.0, 0.0]


def test_decisions_come_on_request(stream: Stream) -> None:
    lanes = lanes_of(stream, ["ours"])
    asked, not_asked = (run_engine(stream, lanes, keep_decisions=keep) for keep in (True, False))
    assert asked.decisions.shape == (len(lanes), 134)
    assert asked.decisions.dtype == np.bool_
    assert not_asked.decisions is None
    np.testing.assert_array_equal(asked.loss, not_asked.loss)


def test_splits_are_streams_of_their_own(stream: Stream) -> None:
    lanes = lanes_of(stream, ["ours"])
    both = run_engine(stream, lanes)
    second = replace(stream, splits=stream.splits[1:])
    moved = [replace(lane, split=0) for lane in lanes if lane.split == 1]
    alone = run_engine(second, moved)
    kept = [k for k, lane in enumerate(lanes) if lane.split == 1]
    np.testing.assert_array_equal(alone.decisions, both.decisions[kept])
    assert (both.decisions[0] != both.decisions[1]).any()


# --- draws ----------------------------------------------------------------------------------------


def chance_only(lanes: list[Lane], n: int = 400, **options) -> np.ndarray:
    """Decisions on rows of zeros: the score is 0, below the cutoff, so only chance accepts."""
    X = np.zeros((2 + n, 1))
    X[:2] = 1.0
    splits = [Split(np.array([i]), np.arange(2, 2 + n)) for i in range(2)]
    options = {"spec": ModelSpec(fit_intercept=False), "keep_decisions": True, **options}
    zeros = np.zeros(2 + n)
    return simulate(X, zeros, truth=zeros, splits=splits, lanes=lanes, **options).decisions


def coin(key: int, n: int, alpha: float) -> np.ndarray:
    draws, accepted = np.empty(1), np.empty(n, dtype=bool)
    for e in range(n):
        fill_draws(key, e, draws)
        accepted[e] = draws[0] < alpha / np.sqrt(e + 1)
    return accepted


@pytest.mark.parametrize("draws", ["fresh", "shared"])
def test_draws_are_those_of_the_lanes_key(draws: str) -> None:
    lanes = grid(["os_eps_greedy"], [2.0, 4.0], [0.1], 2)
    decisions = chance_only(lanes, draws=draws, seed=7)
    for lane, row in zip(lanes, decisions, strict=True):
        expected = coin(lane_key(lane, 7, draws), len(row), lane.alpha)
        np.testing.assert_array_equal(row, expected)


def test_shared_draws_are_the_same_for_every_method_and_alpha_of_a_split() -> None:
    lanes = grid(["os_eps_greedy", "os_noise"], [2.0, 4.0], [0.1], 2)
    shared = {lane_key(lane, 0, "shared") for lane in lanes}
    fresh = {lane_key(lane, 0, "fresh") for lane in lanes}
    assert (len(shared), len(fresh)) == (2, len(lanes))
    low, _, high, _ = chance_only(lanes[:4], draws="shared")
    assert (high >= low).all()
    low, _, high, _ = chance_only(lanes[:4], draws="fresh")
    assert (low & ~high).any()


def test_every_seed_and_split_has_its_own_draws() -> None:
    lanes = [Lane(get_method("noise"), 1.0, 0.5, split) for split in range(3)]
    for draws in ("fresh", "shared"):
        keys = {lane_key(lane, seed, draws) for lane in lanes for seed in range(4)}
        assert len(keys) == 12


def test_cutoffs_share_the_draws_of_a_lane() -> None:
    lanes = grid(["os_eps_greedy"], [2.0], [0.1, 0.2], 1)
    np.testing.assert_array_equal(*chance_only(lanes))


def test_draws_hang_on_what_the_lane_is_not_on_the_types_of_its_numbers() -> None:
    plain = Lane(get_method("noise"), 1.0, 0.5, 0)
    numpy = Lane(get_method("noise"), np.float64(1.0), np.float64(0.5), np.int64(0))
    assert plain == numpy
    for draws in ("fresh", "shared"):
        assert lane_key(plain, 0, draws) == lane_key(numpy, 0, draws)
        assert lane_key(plain, 0, draws) == lane_key(plain, np.int64(0), draws)
    assert lane_key(plain, 0, "fresh") == lane_key(replace(plain, alpha=1), 0, "fresh")


def test_batches_do_not_change_the_draws() -> None:
    lanes = grid(["os_eps_greedy"], [2.0], [0.1], 1)
    one, many = (chance_only(lanes, time="examples", batch_size=size) for size in (1, 37))
    np.testing.assert_array_equal(one, many)


# --- layouts and streams --------------------------------------------------------------------------


@pytest.mark.parametrize("link", LINK_NAMES)
@pytest.mark.parametrize("levels", [4, 20])
def test_sparse_and_dense_rows_decide_alike(link: str, levels: int) -> None:
    rng = np.random.default_rng(levels)
    X = np.eye(levels)[rng.integers(levels, size=(160, 3))].reshape(160, 3 * levels)
    z = X @ rng.normal(scale=0.7, size=3 * levels)
    y = (rng.random(160) < 1 / (1 + np.exp(-z))).astype(float)
    splits = [Split(np.arange(20), np.arange(20, 160))]
    lanes = grid([*METHODS, "ours_log"], [0.3], [0.5], 1)
    for grow, batch in (("label", 1), ("label", 30), ("acceptance", 8)):
        sparse, dense, chosen = (
            simulate(
                *(X, y),
                **{"truth": z, "splits": splits, "lanes": lanes, "batch_size": batch},
                **{"spec": ModelSpec(get_link(link), grow=grow), "keep_decisions": True},
                sparse=layout,
            )
            for layout in (True, False, None)
        )
        assert 0 < sparse.decisions.mean() < 1
        np.testing.assert_array_equal(sparse.decisions, dense.decisions)
        np.testing.assert_array_equal(chosen.decisions, dense.decisions)


def test_last_batch_may_be_short(stream: Stream) -> None:
    """134 rows in batches of 60: a stream cut after 120 rows decides the same on those."""
    lanes = lanes_of(stream, ["ours", "noise"])
    whole = run_engine(stream, lanes, batch_size=60)
    cut = replace(stream, splits=[Split(s.initial, s.stream[:120]) for s in stream.splits])
    part = run_engine(cut, lanes, batch_size=60)
    assert (whole.n_rounds, part.n_rounds) == (3, 2)
    np.testing.assert_array_equal(whole.decisions[:, :120], part.decisions)
    assert whole.accepted.sum() > part.accepted.sum()


def test_inputs_are_left_alone(stream: Stream) -> None:
    before = [a.copy() for a in (stream.X, stream.y, stream.truth)]
    first = all_bytes(run_engine(stream, lanes_of(stream)))
    for array, copy in zip((stream.X, stream.y, stream.truth), before, strict=True):
        np.testing.assert_array_equal(array, copy)
    lists = replace(stream, X=stream.X.tolist(), y=stream.y.tolist(), truth=stream.truth.tolist())
    assert all_bytes(run_engine(lists, lanes_of(stream))) == first

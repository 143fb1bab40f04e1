"""Every decision of the engine against a simulation that refits from scratch with numpy."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import pytest

from pipeline.core.engine import Lane, Split, grid, lane_key, simulate
from pipeline.core.links import get_link
from pipeline.core.methods import get_method
from pipeline.core.methods.baselines import Greedy
from pipeline.core.methods.checks.streams import LINK_NAMES, make_stream, run_engine
from pipeline.core.models.base import ModelSpec
from tests.core.naive import NaiveLearner, assert_lane

METHODS = (
    *("greedy", "eps_greedy", "os_eps_greedy", "noise", "os_noise", "margin", "ours"),
    "ours_log",
)
UNITS = ("rounds", "examples")


def naive_of(lane: Lane, X0: np.ndarray, y0: np.ndarray, **options) -> NaiveLearner:
    key = lane_key(lane, 0, "fresh")
    return NaiveLearner(lane.method.name, X0, y0, lane.cutoff, lane.alpha, key, **options)


# --- all label patterns of tiny streams -----------------------------------------------------------

TINY = np.array(
    [[1.0, 0.2], [-0.4, 1.0], [0.3, -1.0], [0.9, 0.8], [-0.7, 0.1], [0.5, 0.6], [0.1, 1.2]]
)
TINY_TRUTH = np.array([0.9, 0.1, 0.3, 0.8, 0.2, 0.7, 0.6])
SETTINGS = list(itertools.product(UNITS, (1, 2, 3), (0, 1), ("label", "acceptance")))


@pytest.mark.parametrize(("time", "batch", "delay", "grow"), SETTINGS)
@pytest.mark.parametrize("link", ["linear", "logistic"])
def test_every_label_pattern(link: str, time: str, batch: int, delay: int, grow: str) -> None:
    """Two labelled rows, then five: all 2⁵ label patterns, all methods."""
    splits = [Split(np.arange(2), np.arange(2, 7))]
    lanes = grid(METHODS, [0.7], [0.5], 1)
    spec = ModelSpec(get_link(link), l2=0.5, grow=grow)
    for pattern in itertools.product((0.0, 1.0), repeat=5):
        y = np.array([1.0, 0.0, *pattern])
        result = simulate(
            *(TINY, y),
            **{"truth": TINY_TRUTH, "splits": splits, "lanes": lanes, "spec": spec},
            **{"batch_size": batch, "delay": delay, "time": time, "keep_decisions": True},
        )
        for k, lane in enumerate(lanes):
            naive = naive_of(lane, TINY[:2], y[:2], link=link, l2=0.5, time=time, grow=grow)
            assert_lane(naive, TINY[2:], y[2:], result.decisions[k], batch, delay)
            assert_counted(result, k, TINY_TRUTH[2:], 0.5)


def assert_counted(result, k: int, truth: np.ndarray, cutoff: float) -> None:
    """Loss and counts of a lane, added up in plain Python from its decisions."""
    loss, missed, wasted = 0.0, 0, 0
    for mean, accepted in zip(truth.tolist(), result.decisions[k].tolist(), strict=True):
        if mean > cutoff and not accepted:
            loss, missed = loss + mean - cutoff, missed + 1
        if mean <= cutoff and accepted:
            loss, wasted = loss + cutoff - mean, wasted + 1
    assert result.loss[k] == pytest.approx(loss, rel=1e-12, abs=1e-15)
    assert (result.missed[k], result.wasted[k]) == (missed, wasted)
    assert result.accepted[k] == result.decisions[k].sum()


# --- longer streams, every setting of the model ---------------------------------------------------


@pytest.mark.parametrize("link", LINK_NAMES)
@pytest.mark.parametrize(
    "setting",
    [
        {},
        {"fit_intercept": False},
        {"penalize_intercept": False},
        {"score": "contrast"},
        {"l2": 0.01, "grow": "acceptance"},
    ],
    ids=str,
)
@pytest.mark.parametrize(("time", "batch", "delay"), [("rounds", 4, 0), ("examples", 9, 2)])
def test_refits_agree(link: str, setting: dict, time: str, batch: int, delay: int) -> None:
    stream = make_stream(link, n=70)
    cutoff = 2 * stream.cutoff - 0.5 if "score" in setting else stream.cutoff
    lanes = grid(METHODS, [0.3], [cutoff], 1)
    spec = ModelSpec(get_link(link), **setting)
    result = run_engine(stream, lanes, spec=spec, batch_size=batch, time=time, delay=delay)
    X0, y0, X, y = stream.ordered()
    for k, lane in enumerate(lanes):
        assert 0 < result.accepted[k] < len(X)
        naive = naive_of(lane, X0, y0, link=link, time=time, **setting)
        assert_lane(naive, X, y, result.decisions[k], batch, delay)
        assert_counted(result, k, stream.truth[stream.splits[0].stream], cutoff)


def test_wide_rows_agree() -> None:
    """Forty columns: rank-one terms wait in blocks; more rows a round than columns: a refit."""
    stream = make_stream(n=260, d=40)
    lanes = grid(["ours"], [0.3], [stream.cutoff], 1)
    X0, y0, X, y = stream.ordered()
    for batch, grow in itertools.product((3, 120), ("label", "acceptance")):
        result = run_engine(stream, lanes, spec=ModelSpec(grow=grow), batch_size=batch)
        naive = naive_of(lanes[0], X0, y0, grow=grow)
        assert_lane(naive, X, y, result.decisions[0], batch, 0)


# --- by hand --------------------------------------------------------------------------------------


def one_column(labels: list[float], lanes: list[Lane], l2: float = 1.0, **options) -> list[list]:
    """Decisions on rows x = 1 without intercept; the first label is the warm start."""
    n = len(labels)
    result = simulate(
        *(np.ones((n, 1)), np.array(labels)),
        **{"truth": np.zeros(n), "splits": [Split(np.arange(1), np.arange(1, n))]},
        **{"lanes": lanes, "spec": ModelSpec(l2=l2, fit_intercept=False)},
        **{"keep_decisions": True, **options},
    )
    return result.decisions.astype(int).tolist()


@pytest.mark.parametrize(
    ("batch", "delay", "by_hand"),
    [
        (1, 0, [1, 0, 0, 0, 0, 0]),
        (1, 1, [1, 1, 0, 0, 0, 0]),
        (1, 2, [1, 1, 1, 0, 0, 0]),
        (1, 9, [1, 1, 1, 1, 1, 1]),
        (2, 0, [1, 1, 0, 0, 0, 0]),
        (2, 1, [1, 1, 1, 1, 0, 0]),
        (4, 0, [1, 1, 1, 1, 0, 0]),
    ],
)
def test_labels_arrive_after_the_decisions_of_round_r_plus_delay(
    batch: int, delay: int, by_hand: list[int]
) -> None:
    """β = 1/2 after the warm start (x'x + l2 = 2, x'y = 1); one label 0 makes it 1/3 < 0.4."""
    lanes = grid(["greedy"], [], [0.4], 1)
    assert one_column([1, 0, 0, 0, 0, 0, 0], lanes, batch_size=batch, delay=delay) == [by_hand]


@pytest.mark.parametrize(
    ("delay", "by_hand"),
    [(0, [1, 1, 1, 1]), (1, [1, 0, 1, 1]), (2, [1, 0, 0, 1]), (3, [1, 0, 0, 0])],
)
def test_a_good_label_counts_from_its_arrival(delay: int, by_hand: list[int]) -> None:
    """β = 1/2, and 2/3 once the first label is there; 0.31/√t is 0.31, 0.219, 0.179, 0.155."""
    lanes = grid(["margin"], [0.31], [0.8], 1)
    assert one_column([1, 1, 1, 1, 1], lanes, delay=delay) == [by_hand]


@dataclass(frozen=True)
class Generous(Greedy):
    """Greedy, but a tie is accepted."""

    name = "generous"
    accepts_ties = True


def test_ties_are_rejected_unless_the_method_says_so() -> None:
    """x'x + l2 = 4 and x'y = 2 give β = 1/2 without rounding."""
    lanes = [Lane(method, 0.0, 0.5, 0) for method in (get_method("greedy"), Generous())]
    assert one_column([2.0, 0.5, 0.5], lanes, l2=3.0) == [[0, 0], [1, 1]]
    above = [Lane(Generous(), 0.0, float(np.nextafter(0.5, 1.0)), 0)]
    assert one_column([2.0, 0.5, 0.5], above, l2=3.0) == [[0, 0]]


def test_a_tie_between_label_counts_is_rejected() -> None:
    """One success and one failure: μ(β) = 1/2 = cutoff."""
    result = simulate(
        *(np.ones((4, 1)), np.array([0.0, 1.0, 1.0, 1.0])),
        **{"truth": np.ones(4), "splits": [Split(np.arange(2), np.arange(2, 4))]},
        lanes=grid(["greedy"], [], [0.5], 1),
        spec=ModelSpec(get_link("logistic"), fit_intercept=False),
    )
    assert result.accepted.tolist() == [0]
    assert result.loss == pytest.approx([1.0])

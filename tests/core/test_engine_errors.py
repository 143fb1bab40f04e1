"""What the engine refuses, and what it says then."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

from pipeline.core.engine import Lane, Split, grid, simulate
from pipeline.core.methods import Method, get_method
from pipeline.core.methods.checks.streams import LINK_NAMES, make_stream, run_engine
from pipeline.core.models.base import ModelSpec

STREAM = make_stream()
N = len(STREAM.y)
GOOD = {
    "X": STREAM.X,
    "y": STREAM.y,
    "truth": STREAM.truth,
    "splits": STREAM.splits,
    "lanes": grid(["ours"], [0.5], [STREAM.cutoff], 1),
}


def with_entry(array: np.ndarray, value: float) -> np.ndarray:
    changed = array.copy()
    changed[3] = value
    return changed


def split_of(initial: list[int], stream: list[int]) -> Split:
    return Split(np.array(initial, dtype=int), np.array(stream, dtype=int))


def lane(alpha: float = 0.5, cutoff: float = 0.5, split: int = 0) -> list[Lane]:
    return [Lane(get_method("ours"), alpha, cutoff, split)]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"X": STREAM.X[0]}, "two dimensions"),
        ({"X": with_entry(STREAM.X, math.nan)}, r"X\[3, 0\] is nan"),
        ({"X": with_entry(STREAM.X, math.inf)}, r"X\[3, 0\] is inf"),
        ({"X": [["a"]]}, "matrix of numbers"),
        ({"y": STREAM.y[:-1]}, f"y must have one entry for each of {N} rows"),
        ({"truth": STREAM.truth[:-1]}, f"truth must have one entry for each of {N} rows"),
        ({"truth": with_entry(STREAM.truth, math.nan)}, "truth must be finite"),
        ({"truth": with_entry(STREAM.truth, math.inf)}, "truth must be finite"),
        ({"group": np.zeros(3, dtype=int)}, "group must have one entry"),
        ({"group": np.full(N, -1)}, "group must hold integers from 0"),
        ({"group": np.zeros(N)}, "group must hold integers from 0"),
        ({"splits": []}, "at least one split"),
        ({"lanes": []}, "one lane"),
        ({"splits": [split_of([], [1, 2])]}, "split 0: warm start and stream must not be empty"),
        ({"splits": [split_of([1, 2], [])]}, "split 0: warm start and stream must not be empty"),
        ({"splits": [split_of([1, 2], [3, 3])]}, "split 0: rows must be distinct numbers from 0"),
        ({"splits": [split_of([1, 2], [2, 3])]}, f"distinct numbers from 0 to {N - 1}"),
        ({"splits": [split_of([1, 2], [3, N])]}, "split 0: rows must be distinct"),
        ({"splits": [split_of([1, 2], [3, -1])]}, "split 0: rows must be distinct"),
        (
            {"splits": [split_of([0], [1, 2]), split_of([0], [1])]},
            "split 1: all streams must have the same length",
        ),
        ({"lanes": lane(split=1)}, "there are only 1 splits"),
        ({"lanes": lane(split=-1)}, "there are only 1 splits"),
        ({"lanes": lane(alpha=-0.1)}, "alpha must be a finite number >= 0, got -0.1"),
        ({"lanes": lane(alpha=math.nan)}, "alpha must be a finite number"),
        ({"lanes": lane(alpha=math.inf)}, "alpha must be a finite number"),
        ({"lanes": lane(cutoff=math.nan)}, "cutoff must be a finite number"),
        ({"batch_size": 0}, "batch_size must be at least 1"),
        ({"delay": -1}, "delay at least 0"),
        ({"time": "round"}, "time is 'rounds' or 'examples'"),
        ({"draws": "stale"}, "draws are 'fresh' or 'shared'"),
    ],
    ids=lambda value: value if isinstance(value, str) else next(iter(value)),
)
def test_wrong_input_is_named(wrong: dict, message: str) -> None:
    arguments = {**GOOD, **wrong}
    with pytest.raises(ValueError, match=message):
        simulate(arguments.pop("X"), arguments.pop("y"), **arguments)


def test_rows_of_a_split_are_integers() -> None:
    arguments = {**GOOD, "splits": [Split(np.arange(5.0), np.arange(5.0, 9.0))]}
    with pytest.raises(ValueError, match="split 0: rows must be integers"):
        simulate(arguments.pop("X"), arguments.pop("y"), **arguments)


@pytest.mark.parametrize("points", [0, -1])
def test_a_curve_has_points(points: int) -> None:
    arguments = dict(GOOD)
    with pytest.raises(ValueError, match="curve_points"):
        simulate(arguments.pop("X"), arguments.pop("y"), curve_points=points, **arguments)


def test_good_input_passes() -> None:
    arguments = dict(GOOD)
    assert simulate(arguments.pop("X"), arguments.pop("y"), **arguments).loss.shape == (1,)


@pytest.mark.parametrize("wrong", [{"alphas": [-1.0]}, {"alphas": [math.nan]}])
def test_grid_refuses_wrong_alphas(wrong: dict) -> None:
    with pytest.raises(ValueError, match="alpha must be a finite number >= 0"):
        grid(["ours"], wrong["alphas"], [0.5], 1)


def test_grid_refuses_unknown_methods_and_cutoffs() -> None:
    with pytest.raises(ValueError, match="did you mean 'ours'"):
        grid(["our"], [1.0], [0.5], 1)
    with pytest.raises(ValueError, match="cutoff must be a finite number"):
        grid(["ours"], [1.0], [math.inf], 1)


# --- labels ---------------------------------------------------------------------------------------


def bad_label(link: str, method: str, value: float, accepted: bool) -> None:
    """Run with one label of the stream replaced: that of the first accepted or rejected row."""
    stream = make_stream(link)
    lanes = grid([method], [0.004], [stream.cutoff], 1)
    decisions = run_engine(stream, lanes, batch_size=4).decisions[0]
    y = stream.y.copy()
    y[stream.splits[0].stream[np.flatnonzero(decisions == accepted)[0]]] = value
    run_engine(stream, lanes, batch_size=4, y=y)


@pytest.mark.parametrize("method", ["greedy", "ours", "ours_theory"])
@pytest.mark.parametrize("link", LINK_NAMES)
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_accepted_row_without_label(link: str, method: str, value: float) -> None:
    bad_label(link, method, value, accepted=False)
    with pytest.raises(ValueError, match=r"label|finite"):
        bad_label(link, method, value, accepted=True)


@pytest.mark.parametrize("method", ["greedy", "ours", "ours_theory"])
@pytest.mark.parametrize("link", ["logistic", "probit"])
@pytest.mark.parametrize("value", [-1.0, 0.5, 2.0])
def test_label_of_a_binary_link(link: str, method: str, value: float) -> None:
    bad_label(link, method, value, accepted=False)
    with pytest.raises(ValueError, match="0 or 1"):
        bad_label(link, method, value, accepted=True)
    bad_label("linear", method, value, accepted=True)


def test_label_error_names_the_lane() -> None:
    for method in ("ours", "ours_theory"):
        with pytest.raises(ValueError, match=f"{method}.*label"):
            bad_label("linear", method, math.nan, accepted=True)


@pytest.mark.parametrize(("link", "value"), [("linear", math.nan), ("logistic", 2.0)])
def test_labels_of_the_warm_start(link: str, value: float) -> None:
    stream = make_stream(link)
    y = stream.y.copy()
    y[stream.splits[0].initial[2]] = value
    with pytest.raises(ValueError, match=r"y\[2\] is not a finite number|must be 0 or 1, got 2"):
        run_engine(stream, grid(["ours"], [0.5], [0.5], 1), y=y)


# --- models and methods that fail -----------------------------------------------------------------


@dataclass(frozen=True)
class Careless(Method):
    """Reads the width without saying so."""

    name = "careless"

    @staticmethod
    def bonus(t, alpha, score, width, draws):  # noqa: ARG004
        return alpha * width


def test_bonus_that_is_nan() -> None:
    with pytest.raises(ValueError, match=r"careless.*NaN.*uses_width = True"):
        run_engine(STREAM, [Lane(Careless(), 1.0, 0.5, 0)])


def test_failure_in_a_thread_reaches_the_caller() -> None:
    lanes = [*grid(["ours"], [0.1, 0.2], [0.5], 1), Lane(Careless(), 1.0, 0.5, 0)]
    with pytest.raises(ValueError, match="careless"):
        run_engine(STREAM, lanes, n_threads=2)


def test_singular_warm_start() -> None:
    X = np.column_stack([STREAM.X, STREAM.X[:, 0]])
    with pytest.raises(ValueError, match=r"A = l2·I \+ X'X is singular"):
        simulate(
            *(X, STREAM.y),
            **{"truth": STREAM.truth, "splits": STREAM.splits, "lanes": GOOD["lanes"]},
            spec=ModelSpec(l2=0.0),
        )

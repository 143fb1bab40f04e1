"""Checks of what users hand in."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pipeline.core import validation
from pipeline.core.links import Linear, Logistic, Probit

# --- features -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "X",
    [
        [[1, 2], [3, 4]],
        np.array([[1, 2], [3, 4]], dtype=np.int8),
        np.array([[1.0, 3.0], [2.0, 4.0]]).T,
        np.arange(1, 9, dtype=np.float32).reshape(2, 4)[:, :2] + [[0], [-2]],
    ],
)
def test_features_become_contiguous_float64(X) -> None:
    matrix = validation.features(X, 2)
    assert matrix.dtype == np.float64
    assert matrix.flags.c_contiguous
    assert matrix.tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_no_rows_are_fine() -> None:
    assert validation.features(np.empty((0, 3)), 3).shape == (0, 3)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([1.0, 2.0], r"two dimensions \(rows, features\), got shape \(2,\)"),
        (1.0, "two dimensions"),
        (np.ones((2, 2, 2)), r"got shape \(2, 2, 2\)"),
        (np.ones((2, 3)), "X has 3 features, the learner knows 2"),
        ([[1.0, math.nan]], r"X\[0, 1\] is nan; features must be finite"),
        ([[1.0, 0.0], [-math.inf, math.nan]], r"X\[1, 0\] is -inf"),
        ([["a", "b"]], "matrix of numbers: could not convert"),
        ([[1.0], [1.0, 2.0]], "matrix of numbers"),
        ([[{}, {}]], "matrix of numbers"),
    ],
)
def test_wrong_features(X, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        validation.features(X, 2)


# --- labels ---------------------------------------------------------------------------------------


def test_labels_of_the_linear_link_are_any_numbers() -> None:
    assert validation.labels([-3, 0.25, 1e9], 3, Linear()).tolist() == [-3.0, 0.25, 1e9]


@pytest.mark.parametrize("link", [Logistic(), Probit()])
def test_labels_of_binary_links(link) -> None:
    assert validation.labels([True, False], 2, link).tolist() == [1.0, 0.0]
    assert validation.labels(np.array([1, 0], dtype=np.int8), 2, link).tolist() == [1.0, 0.0]
    for wrong in (0.5, 2.0, -1.0, 1e-300):
        message = f"labels of the {link.name} link must be 0 or 1, got {wrong:g}"
        with pytest.raises(ValueError, match=message):
            validation.labels([0.0, wrong], 2, link)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1.0], r"one label for each of 2 rows, got shape \(1,\)"),
        ([[1.0, 0.0]], r"got shape \(1, 2\)"),
        ([0.0, math.nan], r"y\[1\] is not a finite number"),
        ([math.inf, 0.0], r"y\[0\] is not a finite number"),
        (["a", "b"], "vector of numbers"),
        ([{}, {}], "vector of numbers"),
    ],
)
def test_wrong_labels(y, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        validation.labels(y, 2, Linear())


# --- numbers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0, 0.0, 3, 0.25, np.float32(0.25), np.int64(3)])
def test_alpha_is_a_number_from_0(alpha) -> None:
    assert validation.alpha_value(alpha) == alpha
    assert type(validation.alpha_value(alpha)) is float


@pytest.mark.parametrize("alpha", [-1e-300, -1, math.nan, math.inf, -math.inf, "1", None])
def test_wrong_alpha(alpha) -> None:
    with pytest.raises(ValueError, match="alpha must be a finite number >= 0, got "):
        validation.alpha_value(alpha)


@pytest.mark.parametrize("cutoff", [0, -2.5, np.float32(0.25)])
def test_cutoff_is_any_number(cutoff) -> None:
    assert validation.cutoff_value(cutoff) == cutoff
    assert type(validation.cutoff_value(cutoff)) is float


@pytest.mark.parametrize("cutoff", [math.nan, math.inf, -math.inf, "0.5", None])
def test_wrong_cutoff(cutoff) -> None:
    with pytest.raises(ValueError, match="cutoff must be a finite number on the score scale, got "):
        validation.cutoff_value(cutoff)


# --- ids ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ids", [[3, 1], (3, 1), np.array([3, 1], dtype=np.uint8)])
def test_ids_become_int64(ids) -> None:
    vector = validation.row_ids(ids)
    assert vector.dtype == np.int64
    assert vector.tolist() == [3, 1]


def test_no_ids_are_fine() -> None:
    for nothing in ([], (), np.empty(0), np.empty(0, dtype=np.int64)):
        assert validation.row_ids(nothing).tolist() == []
        assert validation.row_ids(nothing).dtype == np.int64


@pytest.mark.parametrize("ids", [[1.0], [True], ["1"], [[1]], 1, [None], [1, 2.5]])
def test_wrong_ids(ids) -> None:
    with pytest.raises(ValueError, match=r"vector of integers, as Decision\.ids gives them"):
        validation.row_ids(ids)


def test_ids_that_repeat() -> None:
    with pytest.raises(ValueError, match="same row twice"):
        validation.row_ids([1, 2, 1])

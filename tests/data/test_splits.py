from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.data.splits import initial_size, stratified_split


def labels(n_zero: int, n_one: int) -> np.ndarray:
    return np.repeat([0.0, 1.0], [n_zero, n_one])


def test_initial_size_is_a_share_a_count_or_the_smaller_of_both() -> None:
    assert initial_size(1000, share=0.05) == 50
    assert initial_size(1000, count=70) == 70
    assert initial_size(48842, share=0.05, count=50) == 50
    assert initial_size(569, share=0.05, count=50) == 29


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "needs a share or a count"),
        ({"share": 1.5}, "share must lie between 0 and 1, got 1.5"),
        ({"count": 0}, "count must be at least 1, got 0"),
        ({"count": 10}, "leaves no stream"),
    ],
)
def test_initial_size_refuses_nonsense(arguments: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        initial_size(10, **arguments)  # type: ignore[arg-type]


@given(st.integers(2, 60), st.integers(2, 60), st.data())
def test_a_split_uses_every_row_once_and_keeps_label_shares(
    n_zero: int, n_one: int, data: st.DataObject
) -> None:
    y = labels(n_zero, n_one)
    n_initial = data.draw(st.integers(1, len(y) - 1))
    split = stratified_split(y, n_initial, seed=3, number=1)
    assert len(split.initial) == n_initial
    assert sorted([*split.initial, *split.stream]) == list(range(len(y)))
    assert abs(y[split.initial].sum() - n_initial * n_one / len(y)) < 1


def test_the_seed_and_the_number_decide_and_nothing_else() -> None:
    y = labels(70, 30)
    first = stratified_split(y, 20, seed=1, number=0)
    again = stratified_split(y, 20, seed=1, number=0)
    assert first.initial.tobytes() == again.initial.tobytes()
    assert first.stream.tobytes() == again.stream.tobytes()
    for seed, number in ((1, 1), (2, 0)):
        other = stratified_split(y, 20, seed, number)
        assert other.stream.tobytes() != first.stream.tobytes()


def test_the_stream_comes_in_random_order() -> None:
    stream = stratified_split(labels(500, 500), 10, seed=0, number=0).stream
    ranks = np.corrcoef(stream, np.arange(len(stream)))[0, 1]
    assert abs(ranks) < 0.1


def test_real_valued_labels_are_not_classes() -> None:
    y = np.sort(np.random.default_rng(0).normal(size=1000))
    initial = stratified_split(y, 100, seed=0, number=0).initial
    assert len(initial) == 100
    assert abs(y[initial].mean()) < 0.3  # not the hundred lowest

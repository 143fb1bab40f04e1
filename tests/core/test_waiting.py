"""Rows that wait for their labels, beside a plain dict."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.core.waiting import Waiting

steps = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2**32 - 1)), max_size=60)


@given(steps=steps)
def test_any_order_of_rounds_and_labels(steps: list[tuple[int, int]]) -> None:
    waiting, plain, next_id = Waiting(), {}, 0
    for size, seed in steps:
        rng = np.random.default_rng(seed)
        rows = rng.normal(size=(size, 2))
        waiting.add(next_id, rows)
        plain |= {next_id + k: row for k, row in enumerate(rows)}
        next_id += size + int(rng.integers(2))  # ids need not follow each other
        known = np.array(list(plain), dtype=np.int64)
        assert waiting.ids.tolist() == known.tolist()
        ids = rng.permutation(known)[: rng.integers(len(known) + 1)]
        ids = np.sort(ids) if rng.integers(2) else ids
        assert waiting.rows(ids).tolist() == [plain[i].tolist() for i in ids.tolist()]
        waiting.drop(ids)
        for i in ids.tolist():
            del plain[i]
    for i in {*range(-1, next_id + 2)} - set(plain):
        for act in (waiting.rows, waiting.drop):
            with pytest.raises(KeyError):
                act(np.array([i]))


def test_rounds_that_have_ended_take_no_room() -> None:
    waiting = Waiting()
    waiting.add(0, np.ones((2, 1)))
    for i in range(2, 10_000, 2):
        waiting.add(i, np.zeros((2, 1)))
        waiting.drop(np.array([i, i + 1]))
    assert len(waiting._firsts) < 300
    assert waiting.rows(np.array([1])).tolist() == [[1.0]]

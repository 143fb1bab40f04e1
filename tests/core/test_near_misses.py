"""Near misses."""

from __future__ import annotations

import pytest

from pipeline.core.near_misses import closest

KNOWN = ("rounds", "examples")


@pytest.mark.parametrize(
    ("name", "meant"), [("round", "rounds"), ("example", "examples"), ("exmaples", "examples")]
)
def test_near_miss_is_suggested(name: str, meant: str) -> None:
    assert closest(name, KNOWN) == f"; did you mean {meant!r}?"


@pytest.mark.parametrize("name", ["", "weeks", None, 3, ["rounds"] * 9])
def test_far_miss_lists_the_known_names_in_order(name: object) -> None:
    assert closest(name, KNOWN) == "; known: examples, rounds"


def test_any_iterable_will_do() -> None:
    assert closest("x", iter(KNOWN)) == "; known: examples, rounds"
    assert closest("b", dict.fromkeys("ab")) == "; did you mean 'b'?"

from __future__ import annotations

import pandas as pd
import pytest

from pipeline.data.dataset import keep_rows, labels_of
from pipeline.data.errors import DataError
from pipeline.data.spec import Condition, Label

FRAME = pd.DataFrame({"x": [-31.0, -30.0, 30.0, None], "word": ["a", "b", "a", None]})


@pytest.mark.parametrize(
    ("condition", "kept"),
    [
        (Condition("x", between=[-30, 30]), [1, 2]),
        (Condition("x", none_of=[30]), [0, 1]),
        (Condition("word", one_of=["a"]), [0, 2]),
        (Condition("word", none_of=["a"]), [1]),
    ],
)
def test_conditions_and_a_missing_value_meets_none(condition: Condition, kept: list[int]) -> None:
    expected = FRAME.iloc[kept].reset_index(drop=True)
    pd.testing.assert_frame_equal(keep_rows(FRAME, [condition]), expected)


def test_all_conditions_must_be_met() -> None:
    conditions = [Condition("x", between=[-30, 30]), Condition("word", one_of=["a"])]
    assert keep_rows(FRAME, conditions)["x"].tolist() == [30.0]
    with pytest.raises(DataError, match="there is no column 'y' to select rows by; known: word, x"):
        keep_rows(FRAME, [Condition("y", one_of=[1])])


def test_labels() -> None:
    frame = pd.DataFrame({"y": ["no", "yes", "no"], "z": [0.28, 0.29, 0.0]})
    assert labels_of(frame, Label("y", positive=["yes"], negative=["no"])).tolist() == [0, 1, 0]
    assert labels_of(frame, Label("y", positive=["no"])).tolist() == [1, 0, 1]
    assert labels_of(frame, Label("z", above=0.28)).tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["yes", "no", "maybe"] * 2, "target 'y': unknown value 'maybe'; known: yes, no"),
        (["yes", "no", "Jo Doe"], "target 'y': unknown values: 1; known: yes, no"),
        (["yes", "yes"], "target 'y' has one class only: 2 rows, 2 of label 1"),
        (["no", "no"], "target 'y' has one class only: 2 rows, 0 of label 1"),
        (["yes", None], "target 'y' is missing in 1 of 2 rows; fill them in"),
    ],
)
def test_bad_labels(values: list[str | None], message: str) -> None:
    label = Label("y", positive=["yes"], negative=["no"])
    with pytest.raises(DataError, match=message):
        labels_of(pd.DataFrame({"y": values}), label)
    with pytest.raises(DataError, match="there is no column 'y' of labels"):
        labels_of(pd.DataFrame({"x": values}), label)

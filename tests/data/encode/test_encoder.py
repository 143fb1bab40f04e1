from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.data.encode.encoder import declared_steps, encode_frame
from pipeline.data.errors import DataError


def encoded(frame: pd.DataFrame, *steps: dict[str, Any]) -> tuple[np.ndarray, tuple[str, ...]]:
    return encode_frame(frame, list(declared_steps(steps)))


def encode(cells: list[Any], **step: Any) -> tuple[tuple[str, ...], list[list[float]]]:
    X, columns = encoded(pd.DataFrame({"a": cells}), {"of": ["a"], **step})
    return columns, X.tolist()


def test_numeric_is_taken_as_it_is_or_divided_and_rounded() -> None:
    assert encode([1.5, -2.0], kind="numeric") == (("a",), [[1.5], [-2.0]])
    assert encode([1169.0, 5951.0], kind="numeric", divide_by=100, round=True)[1] == [[12], [60]]


def test_centred_and_standardised() -> None:
    assert encode([1.0, 2.0, 6.0], kind="centred")[1] == [[-2], [-1], [3]]
    sd = math.sqrt(14 / 3)
    expected = [[-2 / sd], [-1 / sd], [3 / sd]]
    assert encode([1.0, 2.0, 6.0], kind="standardised")[1] == expected
    assert encode([3.0, 3.0], kind="standardised")[1] == [[0], [0]]


@pytest.mark.parametrize(
    ("kind", "filled"), [("numeric", 2.0), ("centred", 0.0), ("standardised", 0.0)]
)
def test_a_missing_number_becomes_the_mean_or_an_error(kind: str, filled: float) -> None:
    values = [1.0, math.nan, 3.0]
    assert encode(values, kind=kind, missing="mean")[1][1] == [filled]
    with pytest.raises(DataError, match="column 'a': 1 missing values; declare `missing: mean`"):
        encode(values, kind=kind, missing="error")


def test_one_hot_sorts_categories_and_puts_missing_last() -> None:
    columns, X = encode(["b", None, "a"], kind="one_hot")
    assert columns == ("a=a", "a=b", "a=missing")
    assert X == [[0, 1, 0], [0, 0, 1], [1, 0, 0]]


def test_one_hot_of_numbers_sorts_them_as_numbers() -> None:
    columns, X = encode([10.0, 9.0, 2.5], kind="one_hot")
    assert columns == ("a=2.5", "a=9", "a=10")
    assert X == [[0, 0, 1], [0, 1, 0], [1, 0, 0]]


def test_one_hot_of_declared_categories() -> None:
    step = {"kind": "one_hot", "categories": ["b", "a"]}
    assert encode(["a", "b"], **step) == (("a=b", "a=a"), [[0, 1], [1, 0]])
    with pytest.raises(DataError, match="1 rows with an unseen category, the first 'c'"):
        encode(["a", "c"], **step)
    assert encode(["a", "c"], **step, unseen="zeros")[1] == [[0, 1], [0, 0]]
    assert encode(["a", None], **step, missing="zeros")[1] == [[0, 1], [0, 0]]


def test_ordinal_and_mapped() -> None:
    order = ["low", "mid", "high"]
    assert encode(["mid", "low"], kind="ordinal", order=order)[1] == [[1], [0]]
    assert encode(["b", "a"], kind="ordinal", start=1)[1] == [[2], [1]]
    assert encode(["A12", "A11"], kind="mapped", values={"A11": 1, "A12": 5})[1] == [[5], [1]]
    with pytest.raises(DataError, match="unseen category, the first 'none'"):
        encode(["mid", "none"], kind="ordinal", order=order)
    with pytest.raises(DataError, match="unseen category, the first 'missing'"):
        encode(["A11", None], kind="mapped", values={"A11": 1})


def test_buckets_are_open_left_and_closed_right() -> None:
    columns, X = encode([0.0, 1.0, 5.0, 6.0, math.nan], kind="bucket", edges=[0, 1, 5])
    assert columns == ("a in (0, 1]", "a in (1, 5]")
    assert X == [[0, 0], [1, 0], [0, 1], [0, 0], [0, 0]]


def test_cumulative_buckets_count_every_higher_bucket() -> None:
    columns, X = encode([0.0, 1.0, 2.0, 5.5, 9.0], kind="cumulative_bucket", edges=[0, 1, 5, 8])
    assert columns == ("a > 0", "a > 1", "a > 5")
    assert X == [[0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1], [0, 0, 0]]


def test_bucket_edges_from_quantiles_of_the_first_rows() -> None:
    values = [0.0, 4.0, 8.0, 100.0]
    assert encode(values, kind="bucket", quantiles=[0, 0.5, 1], first_rows=3)[0] == (
        *("a in (0, 4]", "a in (4, 8]"),
    )
    assert encode(values, kind="bucket", edges=[-1], quantiles=[0.5, 1])[0] == (
        *("a in (-1, 6]", "a in (6, 100]"),
    )


def test_numbers_in_names_are_short_and_the_names_differ() -> None:
    edges = [0, 52.900000000000546, 1234567.5, 1e9 + 1 / 3]
    assert encode([1.0], kind="bucket", edges=edges)[0] == (
        *("a in (0, 52.9]", "a in (52.9, 1234567.5]", "a in (1234567.5, 1e+09]"),
    )
    close = encode([0.5], kind="cumulative_bucket", edges=[0.1, 0.1000001, 0.1000002, 1])[0]
    assert close == ("a > 0.1", "a > 0.1000001", "a > 0.1000002")
    columns, _ = encode([1.0, 0.99999999, 1 / 3], kind="one_hot")
    assert columns == ("a=0.33333333", "a=0.99999999", "a=1")


def test_bucket_labels() -> None:
    step = {"kind": "bucket", "edges": [-math.inf, 1, math.inf], "labels": ["low", "high"]}
    assert encode([1.0, 2.0], **step) == (("a=low", "a=high"), [[1, 0], [0, 1]])


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ({"kind": "numerc", "of": ["a"]}, "unknown kind 'numerc'; did you mean 'numeric'?"),
        ({"kind": "numeric"}, "needs `of`, a list of columns"),
        ({"kind": "numeric", "of": "a"}, "needs `of`, a list of columns"),
        ({"kind": "bucket", "of": ["a"], "edgs": [1]}, "no option 'edgs'; did you mean 'edges'?"),
        ({"kind": "numeric", "of": ["b"]}, "names a column 'b' that is not in the table"),
        ({"kind": "bucket", "of": ["a"], "edges": [1]}, "two or more and differ"),
        ({"kind": "bucket", "of": ["a"], "edges": [1, 1]}, "two or more and differ"),
        ({"kind": "bucket", "of": ["a"], "edges": [1, 2], "labels": ["x", "y"]}, "2 labels for 1"),
    ],
)
def test_a_declaration_that_makes_no_sense(step: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        encoded(pd.DataFrame({"a": [1.0, 2.0]}), step)


def test_categories_of_another_type_than_the_column() -> None:
    with pytest.raises(DataError, match="declared categories do not fit the column's type"):
        encode([1.0, 2.0], kind="one_hot", categories=["one", "two"])


def test_every_column_is_named_once_at_least_and_no_name_twice() -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]})
    numeric = {"kind": "numeric", "of": ["a"]}
    with pytest.raises(DataError, match="no step of the encoding names column 'b'; drop it"):
        encoded(frame, numeric)
    with pytest.raises(DataError, match="two steps make a column 'a'"):
        encoded(frame, numeric, numeric, {"kind": "drop", "of": ["b"]})
    assert encoded(frame, numeric, {"kind": "drop", "of": ["b"]})[1] == ("a",)


def test_text_or_infinite_numbers_where_numbers_are_declared() -> None:
    with pytest.raises(DataError, match="column 'a' holds text where numbers are declared"):
        encode(["x", "1"], kind="numeric")
    with pytest.raises(DataError, match="column 'a' holds 1 infinite numbers"):
        encode([math.inf, 1.0], kind="numeric")
    with pytest.raises(DataError, match="column 'a' holds no values"):
        encode([math.nan, math.nan], kind="centred")


numbers = st.floats(-1e6, 1e6, allow_nan=False).map(lambda x: round(x, 3))
rows = st.lists(
    st.tuples(numbers, st.none() | numbers, st.none() | st.sampled_from(["u", "v", "w x", "?"])),
    min_size=2,
    max_size=40,
).filter(lambda found: len({row[0] for row in found}) > 1 and any(r[1] is not None for r in found))
STEPS = (
    {"kind": "standardised", "of": ["x", "gaps"]},
    {"kind": "cumulative_bucket", "of": ["x"], "edges": [-2e6], "quantiles": [1]},
    {"kind": "one_hot", "of": ["word"]},
)


def frame_of(found: list[tuple[Any, ...]]) -> pd.DataFrame:
    x, gaps, word = zip(*found, strict=True)
    numbers_ = {"x": np.array(x, float), "gaps": np.array(gaps, float)}
    return pd.DataFrame({**numbers_, "word": pd.Series(word, dtype=object)})


@settings(deadline=None, max_examples=50)
@given(rows, st.randoms(use_true_random=False))
def test_columns_and_values_do_not_depend_on_the_order_of_rows(
    found: list[tuple[Any, ...]], random: Any
) -> None:
    frame = frame_of(found)
    order = list(range(len(frame)))
    random.shuffle(order)
    X, columns = encoded(frame, *STEPS)
    shuffled, names = encoded(frame.iloc[order], *STEPS)
    assert columns == names
    assert np.isfinite(X).all()
    assert X[order].tobytes() == shuffled.tobytes()


@settings(deadline=None, max_examples=50)
@given(rows, st.text(min_size=1, max_size=3).filter(lambda word: word not in "uvw x?"))
def test_an_unseen_category_is_refused_or_all_zeros(
    found: list[tuple[Any, ...]], word: str
) -> None:
    known = frame_of([*found, (0.0, 0.0, "u")])["word"].dropna().unique().tolist()
    frame = pd.DataFrame({"word": pd.Series([word], dtype=object)})
    step = {"kind": "one_hot", "of": ["word"], "categories": known}
    with pytest.raises(DataError, match="unseen category"):
        encoded(frame, step)
    assert not encoded(frame, {**step, "unseen": "zeros"})[0].any()

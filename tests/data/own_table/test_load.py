from __future__ import annotations

import datetime
import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.data.dataset import Dataset
from pipeline.data.errors import DataError, UnavailableError
from pipeline.data.own_table import OWN_TABLES, load_file, load_frame, load_openml
from pipeline.data.sources import Settings
from pipeline.sweeps.from_python import NAME

N = 40


def loans(n: int = N) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "id": [f"L{k}" for k in range(n)],
            "income": rng.normal(50, 9, n).round(2),
            "children": rng.integers(0, 4, n),
            "job": rng.choice(["clerk", "cook"], n),
            "country": ["FR"] * n,
            "sex": rng.choice(["f", "m"], n),
            "repaid": ["no", "yes"] * (n // 2),
        }
    )


def column(dataset: Dataset, name: str) -> np.ndarray:
    return dataset.X[:, dataset.columns.index(name)]


def note(dataset: Dataset, name: str) -> str:
    return next(line for line in dataset.notes if line.split()[0] == name)


def test_a_frame_becomes_a_dataset() -> None:
    frame = loans()
    before = frame.copy()
    dataset = load_frame(frame, target="repaid", positive="yes", group="sex")
    kept = ["income", "children=0", "children=1", "children=2", "children=3", "job=clerk"]
    assert dataset.columns == (*kept, "job=cook")
    assert dataset.X.dtype == np.float64
    assert dataset.intercept
    np.testing.assert_array_equal(dataset.y, frame["repaid"] == "yes")
    income = frame["income"].to_numpy()
    np.testing.assert_allclose(column(dataset, "income"), (income - income.mean()) / income.std())
    np.testing.assert_array_equal(column(dataset, "job=cook"), frame["job"] == "cook")
    pd.testing.assert_frame_equal(frame, before)


def test_it_says_what_it_inferred() -> None:
    dataset = load_frame(loans(), target="repaid", positive="yes", group="sex")
    assert dataset.notes[0] == "label 1: repaid = yes (50.0% of 40 rows); label 0: no"
    assert dataset.notes[1] == "group: sex = f, m; no feature"
    assert "left out: a text that differs in every row" in note(dataset, "id")
    assert note(dataset, "income").endswith("number: standardised")
    assert note(dataset, "children").endswith("number: one-hot, 4 distinct values")
    assert note(dataset, "job").endswith("text: one-hot, 2 categories")
    assert "left out: constant" in note(dataset, "country")
    assert dataset.notes[-1] == "5 columns make 7 features"


def test_the_group_is_kept_aside_as_codes_and_names() -> None:
    frame = loans()
    frame.loc[3, "sex"] = None
    group = load_frame(frame, "repaid", "yes", group="sex").group
    assert group is not None
    assert group.names == ("f", "m", "missing")
    assert [group.names[code] for code in group.codes] == frame["sex"].fillna("missing").tolist()


def test_a_value_that_is_called_missing_is_not_a_missing_one() -> None:
    cells = pd.Series(["missing", None, "m", "m"] * (N // 4))
    frame = loans()[["income", "repaid"]].assign(sex=cells, job=cells)
    dataset = load_frame(frame, "repaid", "yes", group="sex")
    assert dataset.group is not None
    assert dataset.group.names == ("m", "missing", "(no value)")
    assert dataset.group.codes.tolist() == [1, 2, 0, 0] * (N // 4)
    assert dataset.columns[1:] == ("job=m", "job=missing", "job=(no value)")
    np.testing.assert_array_equal(dataset.X[:4, 1:], [[0, 1, 0], [0, 0, 1], [1, 0, 0], [1, 0, 0]])
    frame = frame.assign(sex=cells.replace("m", "(no value)"))
    group = load_frame(frame, "repaid", "yes", group="sex").group
    assert group is not None
    assert group.names == ("(no value)", "missing", "(no value 2)")


def test_values_that_are_shown_alike_are_one_group_and_one_label() -> None:
    cells = pd.Series([1, "1", 2, None] * (N // 4), dtype=object)
    group = load_frame(loans().assign(sex=cells), "repaid", "yes", group="sex").group
    assert group is not None
    assert group.names == ("1", "2", "missing")
    assert group.codes.tolist() == [0, 0, 1, 2] * (N // 4)
    labels = pd.Series([1, "1", 2, 2.0] * (N // 4), dtype=object)
    dataset = load_frame(loans().assign(repaid=labels), "repaid", 2)
    assert dataset.y.tolist() == [0, 0, 1, 1] * (N // 4)


def test_numbers_and_texts_as_categories() -> None:
    cells = pd.Series(pd.Categorical([1, "1", "x", "x"] * (N // 4)))
    dataset = load_frame(loans()[["repaid"]].assign(mixed=cells), "repaid", "yes")
    assert dataset.columns == ("mixed=1", "mixed=x")


def test_missing_values() -> None:
    frame = loans()
    frame.loc[:4, ["income", "job", "children"]] = None
    dataset = load_frame(frame, "repaid", "yes")
    assert (column(dataset, "income")[:5] == 0).all()  # the mean
    assert column(dataset, "job=missing").sum() == 5
    assert column(dataset, "children=missing").sum() == 5
    assert "5 rows without a value take the mean" in note(dataset, "income")


def test_other_types() -> None:
    frame = loans()[["repaid"]].assign(
        day=pd.date_range("2020-01-01", periods=N, freq="3D"),
        flag=[True, False] * (N // 2),
        kind=pd.Categorical(["a", "b"] * (N // 2), categories=["b", "a", "unused"]),
        number=range(N),
        mixed=[1, "x"] * (N // 2),
        decimal=pd.Series(np.arange(N) ** 2 / 7, dtype="Float64"),
        objects=pd.Series([0.5 * k for k in range(N)], dtype=object),
        nothing=[None] * N,
        when=[datetime.date(2020, 1, 1 + k % 28) for k in range(N)],
        band=pd.cut(pd.Series(range(N)), [-1, 20, N]),
    )
    dataset = load_frame(frame, "repaid", "yes")
    assert np.diff(column(dataset, "day")).std() == pytest.approx(0, abs=1e-12)
    assert {"flag=True", "flag=False", "kind=a", "kind=b", "mixed=1", "mixed=x"} <= {
        *dataset.columns
    }
    assert "kind=unused" not in dataset.columns
    assert "left out: it numbers the rows" in note(dataset, "number")
    assert "left out: empty" in note(dataset, "nothing")
    assert {"decimal", "objects"} <= set(dataset.columns)
    assert {"when", "band=(-1, 20]", "band=(20, 40]"} <= set(dataset.columns)


DAYS = pd.Series(pd.to_datetime(["2020-01-01", "2021-01-01", "2020-01-01", "2020-07-01"] * 10))


@pytest.mark.parametrize(
    "dates",
    [
        DAYS,
        DAYS.dt.date,
        DAYS.dt.date.astype("category"),
        DAYS.astype("category"),
        DAYS.dt.tz_localize("UTC"),
        DAYS.dt.tz_localize("UTC").astype(object),
        pd.Series([day.to_pydatetime() for day in DAYS], dtype=object),
    ],
)
def test_dates_are_days_since_1970_however_few(dates: pd.Series) -> None:
    wanted = (DAYS - pd.Timestamp(0)).dt.days.to_numpy(np.float64)
    frame = loans()[["repaid"]].assign(when=dates)
    dataset = load_frame(frame, "repaid", "yes")
    assert note(dataset, "when").endswith("date as days since 1970: standardised")
    np.testing.assert_allclose(column(dataset, "when"), (wanted - wanted.mean()) / wanted.std())
    gap = load_frame(frame.assign(when=dates.where(frame.index != 3)), "repaid", "yes")
    assert column(gap, "when")[3] == 0  # the mean


def test_a_date_that_pandas_cannot_hold() -> None:
    days = [datetime.date(2020, 1, 1), datetime.date(9999, 12, 31)]
    frame = loans()[["repaid"]].assign(until=pd.Series(days * (N // 2), dtype=object))
    np.testing.assert_allclose(column(load_frame(frame, "repaid", "yes"), "until")[:2], [-1, 1])


def test_numbers_beside_missing_ones_as_objects() -> None:
    cells = pd.Series([0.5, pd.NA, 1.5, 2.5] * (N // 4), dtype=object)
    dataset = load_frame(loans()[["repaid"]].assign(x=cells), "repaid", "yes")
    assert dataset.columns == ("x",)
    assert dataset.X[1, 0] == 0


def test_the_index_of_a_frame_does_not_matter() -> None:
    frame = loans()
    frame["when"] = [datetime.date(2020, 1, 1 + k % 28) for k in range(N)]
    frame["mixed"] = [1, "x"] * (N // 2)
    frame.loc[2, ["income", "job", "when", "mixed"]] = None
    halves = [frame.iloc[: N // 2], frame.iloc[N // 2 :].set_axis(range(N // 2))]
    plain = load_frame(frame, "repaid", "yes", group="sex")
    found = load_frame(pd.concat(halves), "repaid", "yes", group="sex")
    np.testing.assert_array_equal(found.X, plain.X)
    np.testing.assert_array_equal(found.y, plain.y)
    assert found.group is not None
    assert plain.group is not None
    np.testing.assert_array_equal(found.group.codes, plain.group.codes)


def test_columns_may_be_named_by_numbers() -> None:
    frame = loans().set_axis(range(7), axis=1)
    found = load_frame(frame, 6, "yes", group=5, drop=[0, 1])  # type: ignore[arg-type, list-item]
    assert found.group is not None
    assert found.group.column == "5"
    assert found.columns[-1] == "3=cook"
    assert not any(name.startswith("1") for name in found.columns)
    with pytest.raises(DataError, match="column '1' is there more than once"):
        load_frame(frame.rename(columns={0: "1"}), "6", "yes")


def test_a_text_with_many_categories_keeps_the_most_frequent() -> None:
    frame = pd.DataFrame({"y": [0, 1] * 50, "town": [f"t{k % 40}" for k in range(100)]})
    dataset = load_frame(frame, "y", max_categories=20)
    assert dataset.columns == tuple(sorted(f"town=t{k}" for k in range(20)))
    assert dataset.X.sum() == 60
    assert "20 most frequent of 40 categories, 40 rows in none" in note(dataset, "town")


def test_a_typo_among_numbers_is_pointed_out() -> None:
    cells = [f"{k / 7:.3f}" for k in range(100)]
    cells[5] = "12,5"
    frame = pd.DataFrame({"y": [0, 1] * 50, "a": range(0, 200, 2), "x": cells})
    assert "CHECK: all but 1 of its values are numbers" in note(load_frame(frame, "y"), "x")


@pytest.mark.parametrize(
    ("values", "positive"),
    [
        ([0, 1], None), ([0.0, 1.0], None), ([-1, 1], None), ([False, True], None),
        ([1, 2], 2), ([1, 2], "2"), (["no", "yes"], "yes"), (["no", "yes"], True),
        (["a", "b"], ["b", "b"]), ([False, True], "true"), ([0.5, 2.5], 2.5),
        ([1, 2], np.int64(2)), ([1, 2], np.array([2])), ([0.5, 2.5], np.float32(2.5)),
        ([False, True], np.bool_(True)), (pd.Categorical([0, 1], [2, 0, 1]), None),
    ],
)  # fmt: skip
def test_labels(values: list[object], positive: object) -> None:
    frame = pd.DataFrame({"x": np.arange(6) ** 2, "y": [*values] * 3})
    np.testing.assert_array_equal(load_frame(frame, "y", positive).y, [0, 1] * 3)  # type: ignore[arg-type]


def test_labels_above_a_number() -> None:
    frame = pd.DataFrame({"x": np.arange(6) ** 2, "y": np.arange(6)})
    dataset = load_frame(frame, "y", above=3)
    np.testing.assert_array_equal(dataset.y, [0, 0, 0, 0, 1, 1])
    assert dataset.notes[0].startswith("label 1: y = above 3 (33.3% of 6 rows)")


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({}, {"target": "repayed"}, r"no column 'repayed' .dataset.target.; did you mean 'repaid'"),
        ({}, {"group": "sx"}, r"no column 'sx' .dataset.group.; did you mean 'sex'"),
        ({}, {"drop": ["jobb"]}, r"no column 'jobb' .dataset.drop.; did you mean 'job'"),
        ({}, {"drop": "jobb"}, r"no column 'jobb' .dataset.drop.; did you mean 'job'"),
        ({}, {"drop": ["job", "repaid"]}, r"column 'repaid' is dataset.target: .* dataset.drop"),
        ({}, {"drop": "sex", "group": "sex"}, r"column 'sex' is dataset.group: .* dataset.drop"),
        ({}, {"group": "repaid"}, "cannot be both target and group"),
        ({}, {"group": "id"}, r"'id' .dataset.group. has too many distinct .*: 40 in 40 rows"),
        (
            {"sex": [f"n{k // 1.5}" for k in range(40)]},
            {"group": "sex"},
            "too many distinct values",
        ),
        ({"sex": [[1]] * 40}, {"group": "sex"}, "column 'sex' holds lists"),
        ({"repaid": [[1]] * 40}, {}, "column 'repaid' holds lists"),
        ({}, {"above": "x"}, "dataset.above=x is not a number"),
        ({}, {"positive": "Yes"}, r"no row has 'Yes' .dataset.positive.*; did you mean 'yes'"),
        ({}, {"positive": None}, "'repaid' has the values no, yes; say which is label 1"),
        ({}, {"negative": "maybe"}, "target 'repaid': unknown value 'no'; known: yes, maybe"),
        ({"repaid": "yes"}, {}, "target 'repaid' has one class only"),
        ({"repaid": ["yes", None] * 20}, {}, "target 'repaid' is missing in 20 of 40 rows; fill"),
        ({"repaid": [1.0, np.inf] * 20}, {}, "target 'repaid' holds infinite numbers"),
        ({"repaid": [1.0, np.nan] * 20}, {}, "target 'repaid' is missing in 20 of 40 rows"),
        ({"income": [np.inf, *range(39)]}, {}, "column 'income' holds 1 infinite numbers"),
        ({"income": [1e200, *range(39)]}, {}, "column 'income' holds numbers too large"),
        ({"income": [1.7e308 - k * 1e294 for k in range(40)]}, {}, "'income' holds numbers too l"),
        ({"income": [[1]] * 40}, {}, "column 'income' holds lists"),
        ({"income": [1j] * 40}, {}, "column 'income' holds complex numbers"),
        ({}, {"drop": ["income", "children", "job", "sex"]}, "no column is left"),
    ],
)
def test_errors_name_place_and_column(
    change: dict[str, object], options: dict[str, object], message: str
) -> None:
    arguments = {"target": "repaid", "positive": "yes", "source": "loans.csv", **options}
    with pytest.raises(DataError, match=message) as caught:
        load_frame(loans().assign(**change), **arguments)  # type: ignore[arg-type]
    assert str(caught.value).startswith("loans.csv: ")


def test_a_group_needs_groups() -> None:
    frame = loans(400).assign(income=lambda frame: frame["income"] + np.arange(400))
    with pytest.raises(DataError, match=r"'income' .dataset.group. has too many distinct values"):
        load_frame(frame, "repaid", "yes", group="income")


def test_a_frame_with_the_same_name_twice_or_no_rows() -> None:
    frame = loans()
    with pytest.raises(DataError, match="column 'repaid' is there more than once"):
        load_frame(pd.concat([frame, frame[["repaid"]]], axis=1), "repaid", "yes")
    with pytest.raises(DataError, match="there are no rows"):
        load_frame(frame.iloc[:0], "repaid", "yes")


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "tsv", "parquet", "parquet.gz"])
def test_a_file_gives_what_the_frame_gives(tmp_path: Path, suffix: str) -> None:
    frame = loans()
    frame.loc[2, ["income", "job"]] = None
    path = tmp_path / f"loans.{suffix}"
    if "parquet" in suffix:
        content = frame.to_parquet()
    else:
        content = frame.to_csv(index=False, sep="\t" if suffix == "tsv" else ",").encode()
    path.write_bytes(gzip.compress(content) if suffix.endswith("gz") else content)
    found = load_file(path, "repaid", "yes", group="sex", drop=["children"])
    wanted = load_frame(frame, "repaid", "yes", group="sex", drop=["children"])
    assert found.columns == wanted.columns
    np.testing.assert_array_equal(found.X, wanted.X)
    np.testing.assert_array_equal(found.y, wanted.y)
    assert found.group is not None
    assert wanted.group is not None
    np.testing.assert_array_equal(found.group.codes, wanted.group.codes)
    assert (found.name, found.source) == ("loans", str(path))


@settings(max_examples=20)
@given(st.permutations(range(N)))
def test_the_order_of_rows_changes_nothing_but_the_order(order: list[int]) -> None:
    frame = loans()
    plain = load_frame(frame, "repaid", "yes")
    mixed = load_frame(frame.iloc[order].reset_index(drop=True), "repaid", "yes")
    assert plain.columns == mixed.columns
    np.testing.assert_array_equal(plain.X[order], mixed.X)


def test_labels_change_no_feature() -> None:
    frame = loans()
    other = frame.assign(repaid=["yes", "yes", "no", "no"] * (N // 4))
    first, second = (load_frame(table, "repaid", "yes") for table in (frame, other))
    np.testing.assert_array_equal(first.X, second.X)


def test_openml_is_forbidden_offline() -> None:
    with pytest.raises(UnavailableError, match=r"OpenML 31: forbidden by data.offline=true"):
        load_openml(31, settings=Settings.of(offline=True))


SECRETS = [f"{name} Schmidt" for name in ("Anna", "Bea", "Cem", "Dan")]


@pytest.mark.parametrize(
    ("target", "options"),
    [
        ("few", {}), ("few", {"positive": "Ann Schmidt"}), ("many", {}), ("many", {"positive": 1}),
        ("few", {"positive": "Bea Schmidt", "negative": "Cem Schmidt"}),
    ],
)  # fmt: skip
def test_messages_list_no_values_that_tell_of_single_rows(
    target: str, options: dict[str, object]
) -> None:
    frame = pd.DataFrame(
        {"x": np.arange(24.0), "few": SECRETS * 6, "many": np.arange(24) // 2 + 51}
    )
    frame.loc[0, "few"] = "Eva Schmidt"
    with pytest.raises(DataError) as caught:
        load_frame(frame, target, **options)  # type: ignore[arg-type]
    for secret in ("Anna", "Dan", "Eva", "51", "53"):
        assert secret not in str(caught.value)
    assert " values" in str(caught.value)


def test_notes_list_no_values_that_tell_of_single_rows() -> None:
    frame = pd.DataFrame({"x": np.arange(24.0), "y": np.arange(24) + 51})
    assert load_frame(frame, "y", 60).notes[0].endswith("; label 0: 23 other values")


def loans_file(folder: Path, name: str = "loans.csv") -> Path:
    path = folder / name
    loans().to_csv(path, index=False)
    return path


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"drop": ["incom"]}, r"no column 'incom' .dataset.drop.; did you mean 'income'"),
        ({"drop": "incom"}, r"no column 'incom' .dataset.drop.; did you mean 'income'"),
        ({"drop": ["repaid"]}, r"column 'repaid' is dataset.target: .* dataset.drop"),
        ({"drop": "sex", "group": "sex"}, r"column 'sex' is dataset.group: .* dataset.drop"),
    ],
)
def test_a_file_refuses_what_cannot_be_left_out(
    tmp_path: Path, options: dict[str, object], message: str
) -> None:
    path = loans_file(tmp_path)
    with pytest.raises(DataError, match=message) as caught:
        load_file(path, "repaid", "yes", **options)  # type: ignore[arg-type]
    assert str(caught.value).startswith(f"{path}: ")


@pytest.mark.parametrize("drop", ["income", ["income"], None])
def test_one_column_to_leave_out_needs_no_list(tmp_path: Path, drop: object) -> None:
    dataset = load_file(loans_file(tmp_path), "repaid", "yes", drop=drop)  # type: ignore[arg-type]
    assert ("income" in dataset.columns) == (drop is None)


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("loans.csv", "loans"), ("my loans (1).csv", "my_loans_1"), ("crédit-2.csv.gz", "crédit-2"),
        ("(1).csv", "1"), ("().csv", "table"), ("csv.csv", "csv_table"),
    ],
)  # fmt: skip
def test_a_file_has_a_name_that_a_sweep_accepts(tmp_path: Path, file: str, name: str) -> None:
    path = loans_file(tmp_path, file)
    dataset = load_file(path, "repaid", "yes")
    assert dataset.name == name
    assert NAME.fullmatch(name)
    assert name not in OWN_TABLES
    assert load_file(path, "repaid", "yes", name="mine").name == "mine"

from __future__ import annotations

import functools
import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pipeline.data.dataset import Dataset, check, encode, keep_rows, load, value_hash
from pipeline.data.errors import DataError, MismatchError, UnavailableError
from pipeline.data.sources import Settings, find_table, table_from
from pipeline.data.sources.published_files import read_files
from pipeline.data.spec import dataset_names, read_spec
from tests.data.published import TABLES, bundled_table, published_files

# Rows, columns and label ones as in the paper (stated) and as its numbers fit (inferred).
INFERRED = {
    "adult": (48842, 122, 11687),
    "bank": (41188, 60, 4640),
    "compas": (6172, 31, 2809),
    "crime": (1994, 135, 583),
    "german": (1000, 24, 300),
    "blood": (748, 4, 178),
    "diabetes": (768, 8, 268),
    "eeg_eye": (14980, 14, 6723),
    "australian": (690, 14, 307),
    "churn": (5000, 20, 707),
}
STATED = {
    "adult": (48842, 108, 11687),
    "bank": (45211, 51, 5289),
    "compas": (7918, 19, 2819),
    "crime": (1994, 122, 583),
    "german": (1000, 61, 300),
    "blood": (748, 4, 178),
    "diabetes": (768, 8, 268),
    "eeg_eye": (14980, 14, 6723),
    "australian": (690, 42, 307),
    "churn": (5000, 73, 707),
}
# The first digits of the sha256 of the column names, one a line.
NAMES = {
    "inferred": {
        "adult": "63175667cc13", "bank": "70298a97f263", "compas": "a8ef41a45db8",
        "crime": "c584bbaf0d24", "german": "58d4083638ab", "blood": "8880c2429193",
        "diabetes": "df3b130930e4", "eeg_eye": "a610fab3ac10", "australian": "043c6b737f2b",
        "churn": "74ff9396a9ca",
    },
    "stated": {
        "adult": "8e5493499339", "bank": "77f9dacdec9c", "compas": "0d00bca3755b",
        "crime": "9f13acb27241", "german": "827fdd1bc185", "blood": "8880c2429193",
        "diabetes": "df3b130930e4", "eeg_eye": "a610fab3ac10", "australian": "766ae15a38d0",
        "churn": "65097de1d2e5",
    },
}  # fmt: skip
SHAPES = {("inferred", name): shape for name, shape in INFERRED.items()} | {
    ("stated", name): shape for name, shape in STATED.items()
}
WITH_INTERCEPT = {"german", "blood", "diabetes", "eeg_eye", "australian", "churn"}
NUMERIC = "2752b044394958ab6dd193a0b56ca0f0b3a2d8bc7cb8c008e35a5e84bbec02f8"  # german.data-numeric


@functools.cache
def bundled(name: str, protocol: str = "inferred") -> Dataset:
    return load(name, protocol, offline=True)


def check_shape(dataset: Dataset) -> None:
    rows, columns, positives = SHAPES[dataset.protocol, dataset.name]
    assert dataset.X.shape == (rows, columns)
    assert dataset.X.dtype == np.float64
    assert dataset.X.flags.c_contiguous
    assert np.isfinite(dataset.X).all()
    assert set(np.unique(dataset.y)) == {0.0, 1.0}
    assert dataset.y.sum() == positives
    assert len(set(dataset.columns)) == columns
    digest = hashlib.sha256("\n".join(dataset.columns).encode()).hexdigest()
    assert digest.startswith(NAMES[dataset.protocol][dataset.name]), dataset.columns
    expected = read_spec(dataset.name).protocols[dataset.protocol].expect.sha256
    assert value_hash(dataset.X, dataset.y) == expected
    stated = dataset.protocol == "stated"
    assert dataset.intercept == (stated or dataset.name in WITH_INTERCEPT)
    assert dataset.licence
    assert dataset.citation


def test_the_ten_are_declared() -> None:
    assert set(dataset_names()) == set(INFERRED)
    for name in dataset_names():
        assert set(read_spec(name).protocols) == {"inferred", "stated"}


@pytest.mark.parametrize(("protocol", "name"), list(SHAPES))
def test_bundled_dataset(protocol: str, name: str) -> None:
    dataset = bundled(name, protocol)
    assert dataset.source == "bundled"
    check_shape(dataset)


@pytest.mark.parametrize(("name", "key"), TABLES)
def test_bundled_values_are_those_of_the_published_files(name: str, key: str) -> None:
    """Written as they were published, they have the very bytes of the files."""
    declared = {file.path: file.sha256 for file in read_spec(name).tables[key].files}
    files = dict(published_files(name, key))
    assert {path: hashlib.sha256(files[path]).hexdigest() for path in files} == declared


@pytest.mark.parametrize(("name", "key"), TABLES)
def test_a_table_from_the_mirror(name: str, key: str, mirror: Path) -> None:
    table, _ = table_from("mirror", key, read_spec(name).tables[key], Settings.of(mirror))
    assert table.equals(bundled_table(name, key))


@pytest.mark.usefixtures("not_bundled")
@pytest.mark.parametrize("name", ["compas", "eeg_eye", "australian", "churn"])
def test_load_finds_the_mirror_by_argument(name: str, mirror: Path) -> None:
    dataset = load(name, mirror=mirror, offline=True)
    assert dataset.source == "mirror"
    check_shape(dataset)


@pytest.mark.usefixtures("not_bundled")
def test_load_finds_the_mirror_by_environment(
    mirror: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ONESIDED_DATA_MIRROR", str(mirror))
    assert load("australian", offline=True).source == "mirror"


def test_german_maps_give_german_data_numeric() -> None:
    """The file of 24 numbers that UCI publishes beside german.data, to the byte."""
    dataset = bundled("german")
    rows = np.column_stack([dataset.X, dataset.y + 1]).astype(int)
    text = "".join("".join(f"{cell:4}" for cell in row) + " \n" for row in rows.tolist())
    assert hashlib.sha256(text.encode()).hexdigest() == NUMERIC


def test_adult_age_buckets_are_the_quartiles_of_the_first_file() -> None:
    columns = [name for name in bundled("adult").columns if name.startswith("age")]
    edges = ["(17, 28]", "(28, 37]", "(37, 48]", "(48, 90]"]
    assert columns == [f"age in {edge}" for edge in edges]


def test_some_column_names() -> None:
    columns = bundled("adult").columns
    assert columns[:2] == ("workclass=Federal-gov", "workclass=Local-gov")
    assert "workclass=missing" in columns
    assert "capital_gain in (4000, 10000]" in columns
    crime = bundled("crime").columns
    assert crime[-3:] == ("racePctHisp=low", "racePctHisp=medium", "racePctHisp=high")


def test_bank_duration_is_cumulative() -> None:
    dataset = bundled("bank")
    duration = [k for k, name in enumerate(dataset.columns) if name.startswith("duration")]
    assert [dataset.columns[k] for k in duration][:2] == ["duration > 0", "duration > 89"]
    assert (np.diff(dataset.X[:, duration]) <= 0).all()


def test_compas_ages_are_in_six_buckets() -> None:
    columns = bundled("compas").columns
    edges = ["(0, 24]", "(24, 29]", "(29, 35]", "(35, 45]", "(45, 52.9]", "(52.9, 96]"]
    assert [name for name in columns if name.startswith("age")] == [f"age in {e}" for e in edges]


def test_compas_holds_no_names_dates_of_birth_or_case_numbers() -> None:
    for table in read_spec("compas").tables.values():
        for column in table.columns:
            assert not any(part in column for part in ("name", "dob", "case", "first", "last"))


def test_compas_is_read_from_propublicas_own_layout_without_the_persons(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Their header, with its repeated columns, and a person who does not exist."""
    header = (
        "id,name,first,last,compas_screening_date,sex,dob,age,age_cat,race,juv_fel_count,"
        "decile_score,juv_misd_count,juv_other_count,priors_count,days_b_screening_arrest,"
        "c_case_number,c_charge_degree,is_recid,decile_score,score_text,priors_count,two_year_recid"
    )
    row = "0,Jo Doe,Jo,Doe,2099,Male,2055-01-01,44,25 - 45,Other,0,3,0,0,2,,C7,F,0,3,Low,2,0"
    table = read_spec("compas").tables["compas_two_years"]
    frame = read_files({"compas.csv": f"{header}\n{row}\n".encode()}, table)
    shown = frame.to_csv() + "".join(capfd.readouterr())
    assert list(frame.columns) == list(table.columns)
    assert frame["priors_count"].tolist() == [2.0]
    for secret in ("Doe", "2055", "C7"):
        assert secret not in shown


def test_stated_numerics_are_standardised() -> None:
    dataset = bundled("diabetes", "stated")
    np.testing.assert_allclose(dataset.X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(dataset.X.std(axis=0), 1)


@pytest.mark.parametrize(("protocol", "name"), list(SHAPES))
def test_labels_change_no_feature(protocol: str, name: str) -> None:
    """Neither a scaler nor an imputer looks at them."""
    spec = read_spec(name)
    recipe = spec.recipe(protocol)
    table = keep_rows(bundled_table(name, recipe.table), recipe.keep)
    label = recipe.label.column
    other = table.assign(**{label: table[label].to_numpy()[::-1]})
    found, kept = (encode(spec, protocol, rows, "test") for rows in (other, table))
    assert found.y.tobytes() != kept.y.tobytes()
    assert found.X.tobytes() == kept.X.tobytes()


def test_a_group_is_kept_aside() -> None:
    plain, grouped = bundled("adult"), load("adult", offline=True, group="workclass")
    assert plain.group is None
    assert grouped.group is not None
    assert {"Private", "missing"} <= set(grouped.group.names)
    private = plain.X[:, plain.columns.index("workclass=Private")]
    in_group = grouped.group.codes == grouped.group.names.index("Private")
    np.testing.assert_array_equal(in_group, private == 1)
    assert set(grouped.group.codes) == set(range(len(grouped.group.names)))
    np.testing.assert_array_equal(plain.X, grouped.X)
    with pytest.raises(DataError, match="no column 'colour' to group by"):
        load("blood", offline=True, group="colour")


def test_a_name_or_protocol_that_is_not_there() -> None:
    with pytest.raises(DataError, match=r"no dataset 'adlt'; did you mean 'adult'"):
        load("adlt")
    with pytest.raises(DataError, match=r"no protocol 'statd'; did you mean 'stated'"):
        load("blood", "statd")


@pytest.mark.usefixtures("not_bundled")
def test_offline_without_a_mirror_says_what_to_do() -> None:
    with pytest.raises(UnavailableError) as caught:
        load("bank", offline=True)
    assert "data.mirror or $ONESIDED_DATA_MIRROR" in str(caught.value)
    assert "data.offline=true" in str(caught.value)


@pytest.mark.usefixtures("not_bundled")
def test_a_copy_without_decimal_points_does_not_pass(mirror: Path, tmp_path: Path) -> None:
    """Same rows and columns, 22.08 as 2208: the sha256 of the file stops it, and if that is not
    known, the hash of the values."""
    spec = read_spec("australian")
    table = spec.tables["australian"]
    damaged = (mirror / "australian" / "australian.dat").read_text().replace(".", "")
    (tmp_path / "australian").mkdir()
    (tmp_path / "australian" / "australian.dat").write_text(damaged)
    with pytest.raises(MismatchError, match=r"sha256: expected 3abe5af1\w+, found \w+"):
        load("australian", mirror=tmp_path, offline=True)
    table.files[0].sha256 = None
    settings = Settings.of(mirror=tmp_path, offline=True)
    with pytest.raises(MismatchError, match=r"hash of values: expected \w+, found \w+"):
        find_table("australian", table, settings)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("rows", 747, r"rows: expected 747, found 748"),
        ("columns", 5, r"columns: expected 5, found 4"),
        ("positives", 177, r"positives: expected 177, found 178"),
        ("sha256", "0", r"hash of values: expected 0, found \w+"),
    ],
)
def test_a_mismatch_shows_both_figures(key: str, value: object, message: str) -> None:
    recipe = read_spec("blood").protocols["inferred"]
    setattr(recipe.expect, key, value)
    with pytest.raises(MismatchError, match=message):
        check(bundled("blood"), recipe)


def test_a_dataset_cannot_lose_the_intercept_its_results_are_named_after() -> None:
    """Its values do not tell: a changed loader would give other figures under the same name."""
    recipe = read_spec("blood").protocols["inferred"]
    with pytest.raises(MismatchError, match="intercept: expected True, found False"):
        check(replace(bundled("blood"), intercept=False), recipe)

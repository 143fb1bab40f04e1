"""Reading tables out of packages; the packages themselves are not needed here."""

from __future__ import annotations

import gzip
from pathlib import Path

import bundle_data
import pytest
from bundle_data import ORIGINS, Origin, bundle, read_origin

from pipeline.data.errors import MismatchError
from pipeline.data.sources.bundled import FOLDER, Bundled
from pipeline.data.spec import DatasetSpec, dataset_names, read_spec

BLOOD = Origin("blood", "blood", "package==1", files=("p/blood.csv.gz",), header=True)


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A folder like that of an unpacked package, with the blood table as csv.gz."""
    frame = Bundled().table("blood", read_spec("blood").tables["blood"])
    assert frame is not None
    path = tmp_path / "p" / "blood.csv.gz"
    path.parent.mkdir()
    path.write_bytes(gzip.compress(frame.to_csv(index=False, header=list("abcde")).encode()))
    return tmp_path


@pytest.fixture
def spec() -> DatasetSpec:
    return read_spec("blood")


def test_a_table_is_read_by_position(package: Path, spec: DatasetSpec, tmp_path: Path) -> None:
    bundle(BLOOD, package, spec, None, tmp_path)
    table = spec.tables["blood"]
    made, bundled = Bundled(tmp_path).table("blood", table), Bundled().table("blood", table)
    assert made is not None
    assert made.equals(bundled)


def test_a_package_with_other_values_is_refused(
    package: Path, spec: DatasetSpec, tmp_path: Path
) -> None:
    path = package / "p" / "blood.csv.gz"
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()).replace(b"50", b"51")))
    with pytest.raises(MismatchError, match="table blood from package==1, hash of values"):
        bundle(BLOOD, package, spec, None, tmp_path)
    assert not (tmp_path / "blood.parquet").exists()


def test_a_mirror_with_other_values_is_noticed(
    package: Path, spec: DatasetSpec, tmp_path: Path
) -> None:
    table = spec.tables["blood"]
    frame = read_origin(BLOOD, package, table)
    frame.iloc[0, 0] = 99.0
    raw = tmp_path / "mirror" / "blood" / "transfusion.data"
    raw.parent.mkdir(parents=True)
    frame.to_csv(raw, index=False)
    table.files[0].sha256 = None
    with pytest.raises(MismatchError, match="equal values: expected 748, found 747"):
        bundle(BLOOD, package, spec, tmp_path / "mirror", tmp_path)


def test_the_origins_are_the_bundled_tables_and_they_are_small() -> None:
    declared = {
        key for name in dataset_names() for key, table in read_spec(name).tables.items()
        if table.bundled
    }  # fmt: skip
    assert {origin.table for origin in ORIGINS} == declared
    assert {path.stem for path in FOLDER.glob("*.parquet")} == declared
    assert sum(path.stat().st_size for path in FOLDER.glob("*")) < bundle_data.MAX_BYTES


def test_licence_and_citation_lie_beside_the_tables(tmp_path: Path) -> None:
    bundle_data.write_readme(tmp_path)
    text = (tmp_path / "README.md").read_text()
    assert text == (FOLDER / "README.md").read_text()
    for origin in ORIGINS:
        assert read_spec(origin.dataset).citation in text

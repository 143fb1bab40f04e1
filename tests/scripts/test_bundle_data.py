"""From published files to bundled tables."""

from __future__ import annotations

from pathlib import Path

import bundle_data
import pytest

from pipeline.data.errors import MismatchError, UnavailableError
from pipeline.data.sources import Settings
from pipeline.data.sources.table import BUNDLED
from pipeline.data.spec import dataset_names, read_spec
from tests.data.published import TABLES, bundled_table, published_files


def written(folder: Path, name: str, key: str) -> Settings:
    """Settings with a mirror that holds one table."""
    for path, content in published_files(name, key):
        (folder / path).parent.mkdir(parents=True)
        (folder / path).write_bytes(content)
    return Settings(mirror=folder, offline=True, cache=folder, raw=folder)


@pytest.mark.parametrize(("name", "key"), [("blood", "blood"), ("compas", "compas_scores")])
def test_the_published_files_give_the_bundled_file(name: str, key: str, tmp_path: Path) -> None:
    settings = written(tmp_path / "mirror", name, key)
    bundle_data.bundle(key, read_spec(name).tables[key], settings, tmp_path)
    made, bundled = (folder / f"{key}.parquet" for folder in (tmp_path, BUNDLED))
    assert made.read_bytes() == bundled.read_bytes()


def test_a_file_with_other_values_is_refused(tmp_path: Path) -> None:
    settings = written(tmp_path / "mirror", "blood", "blood")
    path = tmp_path / "mirror" / "blood" / "transfusion.data"
    path.write_bytes(path.read_bytes().replace(b",50,", b",51,"))
    table = read_spec("blood").tables["blood"]
    with pytest.raises(MismatchError, match="sha256: expected"):
        bundle_data.bundle("blood", table, settings, tmp_path)
    table.files[0].sha256 = None
    with pytest.raises(MismatchError, match="table blood from mirror, hash of values"):
        bundle_data.bundle("blood", table, settings, tmp_path)
    assert not (tmp_path / "blood.parquet").exists()


def test_what_is_bundled_is_not_taken_from_the_bundle(tmp_path: Path) -> None:
    nowhere = Settings(mirror=None, offline=True, cache=tmp_path, raw=tmp_path)
    with pytest.raises(UnavailableError, match="mirror: none is set"):
        bundle_data.bundle("blood", read_spec("blood").tables["blood"], nowhere, tmp_path)


def test_every_table_is_bundled_and_they_are_small() -> None:
    for name in dataset_names():
        assert all(table.bundled for table in read_spec(name).tables.values())
    assert {path.stem for path in BUNDLED.glob("*.parquet")} == {key for _, key in TABLES}
    assert sum(path.stat().st_size for path in BUNDLED.glob("*")) < bundle_data.MAX_BYTES


@pytest.mark.parametrize(("name", "key"), TABLES)
def test_a_bundled_file_holds_the_declared_columns_only(name: str, key: str) -> None:
    import pyarrow.parquet as pq

    stored = pq.read_schema(BUNDLED / f"{key}.parquet").names
    assert stored == list(read_spec(name).tables[key].columns)
    assert len(bundled_table(name, key)) == read_spec(name).tables[key].expect.rows


def test_licence_and_citation_lie_beside_the_tables(tmp_path: Path) -> None:
    bundle_data.write_readme(tmp_path)
    text = (tmp_path / "README.md").read_text()
    assert text == (BUNDLED / "README.md").read_text(), "run `python scripts/bundle_data.py`"
    for name, key in TABLES:
        spec = read_spec(name)
        for part in (f"`{key}.parquet`", spec.licence, spec.citation):
            assert part in text

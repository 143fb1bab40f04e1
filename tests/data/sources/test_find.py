from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.data.errors import DataError, MismatchError, UnavailableError
from pipeline.data.sources import Settings, find_table
from pipeline.data.sources.table import write_parquet
from pipeline.data.spec import RawFile, Table

Make = Callable[..., Settings]


def mirror_of(folder: Path, content: bytes) -> Path:
    path = folder / "mirror" / "small" / "small.csv"
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    return folder / "mirror"


def test_bundled_comes_before_the_mirror_and_the_mirror_before_the_cache(
    small: Table, content: bytes, tmp_path: Path, make_settings: Make,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    small.files = [RawFile("small/small.csv")]
    settings = make_settings(mirror=mirror_of(tmp_path, content), offline=True)
    frame, source = find_table("small", small, settings)
    assert source == "mirror"
    write_parquet(frame, settings.cache / "tables" / "small.parquet")
    assert find_table("small", small, settings)[1] == "mirror"
    assert find_table("small", small, make_settings(offline=True))[1] == "cache"
    write_parquet(frame, tmp_path / "bundled" / "small.parquet")
    monkeypatch.setattr("pipeline.data.sources.table.BUNDLED", tmp_path / "bundled")
    small.bundled = True
    assert find_table("small", small, settings)[1] == "bundled"


def test_data_raw_alone_on_request(
    small: Table, content: bytes, tmp_path: Path, make_settings: Make
) -> None:
    small.files = [RawFile("small/small.csv")]
    mirror = mirror_of(tmp_path, content)
    settings = make_settings(mirror=mirror, only_raw=True)
    with pytest.raises(UnavailableError, match=r"there is no .*small.parquet: python -m .* fetch"):
        find_table("small", small, settings)
    frame, _ = find_table("small", small, make_settings(mirror=mirror))
    write_parquet(frame, settings.raw / "small.parquet")
    assert find_table("small", small, settings)[1] == "data/raw"
    assert find_table("small", small, make_settings(mirror=mirror))[1] == "mirror"


def test_a_mirror_is_never_changed(
    small: Table, content: bytes, tmp_path: Path, make_settings: Make
) -> None:
    small.files = [RawFile("small/small.csv", sha256="abc")]
    mirror = mirror_of(tmp_path, content)
    with pytest.raises(MismatchError, match="sha256: expected abc, found"):
        find_table("small", small, make_settings(mirror=mirror, offline=True))
    assert [path.name for path in mirror.rglob("*")] == ["small", "small.csv"]


def test_every_reason_is_told(small: Table, tmp_path: Path, make_settings: Make) -> None:
    small.files = [RawFile("small/small.csv")]
    with pytest.raises(UnavailableError) as none_set:
        find_table("small", small, make_settings(offline=True))
    assert "mirror: none is set" in str(none_set.value)
    with pytest.raises(UnavailableError, match="there is no folder"):
        find_table("small", small, make_settings(mirror=tmp_path / "nowhere", offline=True))
    (tmp_path / "empty").mkdir()
    with pytest.raises(UnavailableError, match=r"there is no small/small.csv in"):
        find_table("small", small, make_settings(mirror=tmp_path / "empty", offline=True))


def test_a_cache_that_cannot_be_written(small: Table, tmp_path: Path, make_settings: Make) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(DataError, match=r"cannot be written .* set \$ONESIDED_CACHE"):
        find_table("small", small, make_settings(cache=tmp_path / "file"))


def test_settings_come_from_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ONESIDED_DATA_MIRROR", "~/mirror")
    monkeypatch.setenv("ONESIDED_CACHE", str(tmp_path))
    settings = Settings.of()
    assert settings.mirror == Path.home() / "mirror"
    assert settings.cache == tmp_path
    monkeypatch.delenv("ONESIDED_DATA_MIRROR")
    monkeypatch.delenv("ONESIDED_CACHE")
    assert Settings.of().mirror is None
    assert Settings.of().cache == Path.home() / ".cache" / "onesided"

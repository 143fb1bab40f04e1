from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.files import read_json, replacing, write_json, write_text


def _write_half(path: Path) -> None:
    path.write_text("half")
    raise ZeroDivisionError


def test_a_file_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "a.txt"
    write_text(target, "old")
    with pytest.raises(ZeroDivisionError), replacing(target) as partial:
        _write_half(partial)
    assert target.read_text() == "old"
    assert [path.name for path in target.parent.iterdir()] == ["a.txt"]


def test_others_may_read_a_result(tmp_path: Path) -> None:
    write_text(tmp_path / "a.txt", "x")
    (tmp_path / "b.txt").write_text("x")
    modes = {(tmp_path / name).stat().st_mode for name in ("a.txt", "b.txt")}
    assert len(modes) == 1


def test_the_same_value_gives_the_same_json(tmp_path: Path) -> None:
    value = {"ρ": 0.1, "n": [1, 2], "none": None}
    write_json(tmp_path / "a.json", value)
    write_json(tmp_path / "b.json", value)
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    assert read_json(tmp_path / "a.json") == value


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe"])
def test_damaged_json_is_no_value(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.json").write_bytes(content)
    assert read_json(tmp_path / "a.json") is None
    assert read_json(tmp_path / "absent.json") is None
    assert read_json(tmp_path / "a.json" / "below.json") is None

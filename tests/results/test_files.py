from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.results.files import read_json, write_json


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

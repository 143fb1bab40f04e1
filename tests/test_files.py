from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.files import replacing
from pipeline.results.files import write_text


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

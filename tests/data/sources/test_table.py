from __future__ import annotations

import hashlib
import struct
from pathlib import Path

import pandas as pd
import pytest

from pipeline.data.errors import DataError, MismatchError
from pipeline.data.sources.table import (
    check_table,
    make_table,
    read_parquet,
    table_hash,
    write_parquet,
)
from pipeline.data.spec import Table, TableExpect

CELLS: dict[str, list[object]] = {"x": ["1.5", None, "-0"], "word": ["a", "é", None]}


def table(rows: int = 3, sha256: str = "") -> Table:
    return Table({"x": "number", "word": "text"}, TableExpect(rows, sha256))


def frame() -> pd.DataFrame:
    return make_table(CELLS, table())


def test_the_hash_is_what_its_docstring_says() -> None:
    numbers = struct.pack("<3d", 1.5, float("nan"), 0.0)
    content = b"x\0" + numbers + b"word\0" + "a\0é\0\1\0".encode()
    assert table_hash(frame()) == hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize(("name", "value"), [("x", "15"), ("x", "0"), ("word", "b")])
def test_any_other_value_has_another_hash(name: str, value: str) -> None:
    cells = {**CELLS, name: [value, *CELLS[name][1:]]}
    assert table_hash(make_table(cells, table())) != table_hash(frame())


def test_parquet_keeps_every_value(tmp_path: Path) -> None:
    path = tmp_path / "new" / "t.parquet"
    write_parquet(frame(), path)
    back = read_parquet(path, table())
    pd.testing.assert_frame_equal(back, frame())
    assert table_hash(back) == table_hash(frame())
    assert [found.name for found in path.parent.iterdir()] == ["t.parquet"]


def test_a_failed_write_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("pyarrow.parquet.write_table", fail)
    with pytest.raises(DataError, match=r"t.parquet cannot be written: disk full; choose another"):
        write_parquet(frame(), tmp_path / "t.parquet")
    assert list(tmp_path.iterdir()) == []


def test_check_shows_both_figures() -> None:
    with pytest.raises(MismatchError, match="table t from here, rows: expected 4, found 3"):
        check_table(frame(), "t", table(rows=4), "here")
    with pytest.raises(
        MismatchError, match=r"hash of values: expected abc, found \w{64} .a damaged"
    ):
        check_table(frame(), "t", table(sha256="abc"), "here")
    with pytest.raises(MismatchError, match=r"columns: expected \['x', 'word'\], found \['x'\]"):
        check_table(frame()[["x"]], "t", table(), "here")


@pytest.mark.parametrize("content", [b"", b"PAR1 but not really PAR1"])
def test_a_file_that_is_not_parquet(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    path.write_bytes(content)
    with pytest.raises(MismatchError, match="expected a table in parquet, found unreadable"):
        read_parquet(path, table())

"""The compiled parser must give what pyarrow's reader gives, or leave the file to it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pipeline.data import plain_csv, table_file
from pipeline.data.errors import DataError
from pipeline.data.plain_csv import Plain
from pipeline.data.table_file import MISSING, read_frame

KINDS = {"x": "float", "n": "int", "word": "text"}


def plain(folder: Path, content: str | bytes, **kinds: str) -> pd.DataFrame | None:
    path = folder / "t.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return Plain(path, kinds or KINDS, ",", MISSING).read()


def cells(frame: pd.DataFrame | None) -> list[list[object]]:
    assert frame is not None
    return [
        [None if pd.isna(cell) else cell for cell in row]
        for row in frame.astype(object).itertuples(index=False)
    ]


def test_values(tmp_path: Path) -> None:
    content = (
        'x,n,word\n-0.5,1,a b\r\n.25,-2,"c, d"\n5.,003,é\n1e-7,4,NA\n 7 ,5,\n'
        '12345678901234567890.5,6,a b\n0.1234567890123456789,7,a b\nNA,8,a b\n,9,a b\n"3",10,x'
    )
    found = cells(plain(tmp_path, content))
    numbers = [-0.5, 0.25, 5.0, 1e-7, 7.0, 12345678901234567890.5, 0.1234567890123456789]
    assert [row[0] for row in found] == [*numbers, None, None, 3.0]
    assert [row[1] for row in found] == [1, -2, *range(3, 11)]
    words = ["a b", "c, d", "é", None, None, "a b", "a b", "a b", "a b", "x"]
    assert [row[2] for row in found] == words


def test_types(tmp_path: Path) -> None:
    frame = plain(tmp_path, "x,n,word\n1,2,a\n3,4,b\n")
    assert frame is not None
    assert [dtype.name for dtype in frame.dtypes] == ["float64", "int64", "category"]
    frame = plain(tmp_path, "x,n,word\n1,2.5,a\n3,4,b\n")
    assert frame is not None
    assert frame["n"].tolist() == [2.5, 4.0]


@pytest.mark.parametrize(
    "content",
    [
        "x,n,word\n1,2\n",
        "x,n,word\n1,2,a,b\n",
        "x,n,word\n1,2,a\n\n3,4,b\n",
        'x,n,word\n1,2,"a\nb"\n',
        'x,n,word\n1,2,"a""b"\n',
        'x,n,word\n1,2,a"b\n',
        "x,n,word\none,2,a\n",
        "x,n,word\n1,2,a\rb\n",
        b"x,n,word\n1,2,\xff\n",
    ],
)
def test_what_is_not_plain_is_left_to_the_general_reader(
    tmp_path: Path, content: str | bytes
) -> None:
    assert plain(tmp_path, content) is None


def test_every_number_is_correctly_rounded(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=3000) * 10.0 ** rng.integers(-25, 25, 3000)
    texts = [repr(float(v)) if k % 3 else f"{v:.{k % 12}f}" for k, v in enumerate(x)]
    frame = plain(tmp_path, "x,n\n" + "".join(f"{text},1\n" for text in texts), x="float", n="int")
    assert frame is not None
    assert frame["x"].tolist() == [float(text) for text in texts]


@pytest.mark.parametrize("block", [64, 1000, 1 << 20])
def test_as_the_general_reader_whatever_the_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "x": rng.normal(size=500),
            "y": np.where(rng.random(500) < 0.1, np.nan, rng.normal(size=500).round(3)),
            "n": rng.integers(-9, 9, 500),
            "word": rng.choice(["", "tea", "milk, cold", "Zürich"], 500),
        }
    )
    frame.to_csv(tmp_path / "t.csv", index=False)
    monkeypatch.setattr(plain_csv, "BLOCK", block)
    general = read_frame(tmp_path / "t.csv")
    monkeypatch.setattr(table_file, "LARGE", 0)
    monkeypatch.setattr(table_file._Csv, "table", None)  # it must not be needed
    fast = read_frame(tmp_path / "t.csv")
    assert cells(fast) == cells(general)
    assert fast.dtypes.map(lambda dtype: dtype.kind).tolist() == ["f", "f", "i", "O"]


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
@pytest.mark.parametrize("block", [11, 12, 13, 17, 19, 23])
def test_wherever_a_block_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int, end: str
) -> None:
    monkeypatch.setattr(plain_csv, "BLOCK", block)
    rows = [[0.5 * k, k, "ab"[k % 2]] for k in range(23)]
    content = "x,n,word\n" + "\n".join(f"{x},{n},{word}" for x, n, word in rows) + end
    assert cells(plain(tmp_path, content)) == rows


def test_a_line_longer_than_a_block_is_not_plain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plain_csv, "BLOCK", 64)
    assert plain(tmp_path, "x,n,word\n" + "1,2,a\n" * 20) is not None
    assert plain(tmp_path, "x,n,word\n" + "1,2,a\n" * 20 + f"1,2,{'b' * 200}\n") is None


def test_a_large_bad_file_has_the_same_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_file, "LARGE", 0)
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n3,4,5\n")
    with pytest.raises(DataError, match=r"a row has 3 values where .* names 2 columns .row 2;"):
        read_frame(path)

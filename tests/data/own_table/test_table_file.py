from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.data.errors import DataError
from pipeline.data.own_table import table_file
from pipeline.data.own_table.table_file import read_frame


def write(folder: Path, content: bytes, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "t.csv is empty"),
        (b"\xef\xbb\xbf\n \n", "t.csv is empty"),
        (b"<!DOCTYPE html>\n<html>a,b</html>", "t.csv is a web page, not data"),
        (b"a,b\n", "t.csv holds column names but no rows"),
        (
            b"a;b;c\n1;2;3\n",
            r"t.csv has one column only with separator ','; try .*separator=semicolon$",
        ),
        (b"a\tb\n1\t2\n", r"one column only with separator ','; try dataset.separator=tab$"),
        (b"a|b\n1|2\n", r"one column only with separator ','; try dataset.separator=pipe$"),
        (b"a;b\r1;2\r", r"one column only with separator ','; try dataset.separator=semicolon$"),
        (b'"a,b' + b"x" * 200_000, r"the first line, of column names, cannot be read"),
        (b"a\n1\n2\n", "one column only with separator ','; name the right one"),
        (b"a,b,a\n1,2,3\n", "t.csv: column 'a' is there more than once"),
        (b"a,b\n1,2\n3,4,5\n6,7\n", r"a row has 3 values where .* names 2 columns .row 2;"),
        (b"a,b\n1,2\n3\n", r"a row has 1 values where .* names 2 columns .row 2;"),
        (b"a,b\n1,\xff\xfe\n2,x\n", "column 'b' is not text in UTF-8"),
        (b"\x1f\x8b\x08\x00broken", "is not a sound gzip file"),
        (b"PAR1 but no more", "is not a sound parquet file"),
    ],
)
def test_bad_files(tmp_path: Path, content: bytes, message: str) -> None:
    path = write(tmp_path, content)
    with pytest.raises(DataError, match=message) as caught:
        read_frame(path)
    assert str(path) in str(caught.value)


def test_a_cut_off_gzip_file(tmp_path: Path) -> None:
    packed = gzip.compress(b"a,b\n" + b"1.25,2.5\n" * 5000)
    with pytest.raises(DataError, match="not a sound gzip file"):
        read_frame(write(tmp_path, packed[:-20], "t.csv.gz"))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no file"):
        read_frame(tmp_path / "no.csv")


def test_no_row_is_shown(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    content = b"name,x\n" + b"a,1\n" * 50 + b"Jo Doe,1,2\n"
    with pytest.raises(DataError) as caught:
        read_frame(write(tmp_path, content))
    assert "Doe" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert "Doe" not in "".join(capfd.readouterr())


def test_values(tmp_path: Path) -> None:
    content = b'\xef\xbb\xbfx,n,word,\n0.1,1,"a\nb, c",7\n,NA,?,8\n-3e5,3,e,9\n'
    frame = read_frame(write(tmp_path, content))
    assert list(frame.columns) == ["x", "n", "word", "unnamed 4"]
    np.testing.assert_array_equal(frame["x"], [0.1, np.nan, -3e5])
    np.testing.assert_array_equal(frame["n"], [1, np.nan, 3])
    assert frame["word"].astype(object).where(frame["word"].notna(), None).tolist() == [
        "a\nb, c", None, "e",
    ]  # fmt: skip


def test_options(tmp_path: Path) -> None:
    path = write(tmp_path, b"a;b;c\n1;-;5\n2;3;6\n")
    frame = read_frame(path, separator=";", missing=["-"], drop=["c"])
    assert list(frame.columns) == ["a", "b"]
    np.testing.assert_array_equal(frame["b"], [np.nan, 3])


@pytest.mark.parametrize(("late", "kind"), [(b"2.5", "f"), (b"word", "O"), (b"", "f")])
def test_later_rows_that_do_not_fit_the_guess(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, late: bytes, kind: str
) -> None:
    monkeypatch.setattr(table_file, "HEAD", 1000)
    frame = read_frame(write(tmp_path, b"a,b\n" + b"1,2\n" * 1000 + late + b",3\n"))
    assert len(frame) == 1001
    found = frame["a"].dtype
    assert ("O" if isinstance(found, pd.CategoricalDtype) else found.kind) == kind


def test_numbers_are_correctly_rounded(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    cells = [repr(float(x)) for x in rng.normal(size=500) * 10.0 ** rng.integers(-30, 30, 500)]
    content = "x,y\n" + "".join(f"{cell},1\n" for cell in cells)
    frame = read_frame(write(tmp_path, content.encode()))
    assert frame["x"].tolist() == [float(cell) for cell in cells]


def test_parquet_with_lists(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [1, 2], "b": [[1], [2]]}), tmp_path / "t.parquet")
    with pytest.raises(DataError, match=r"column 'b' holds list.*dataset.drop=\[b\]"):
        read_frame(tmp_path / "t.parquet")
    kept = read_frame(tmp_path / "t.parquet", drop=["b"])
    assert list(kept.columns) == ["a"]


@pytest.mark.parametrize("ends", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("head", [1 << 20, 40])
def test_line_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ends: bytes, head: int) -> None:
    monkeypatch.setattr(table_file, "HEAD", head)
    frame = read_frame(write(tmp_path, b"a,b\n1,x\n2,y\n".replace(b"\n", ends)))
    assert frame["a"].tolist() == [1, 2]
    assert frame["b"].tolist() == ["x", "y"]
    many = ends.join([b"a,b", *[b"1,x"] * 200])
    assert read_frame(write(tmp_path, many)).shape == (200, 2)


@pytest.mark.parametrize(
    ("given", "character"),
    [
        ("tab", "\t"), ("\\t", "\t"), ("\t", "\t"), ("semicolon", ";"), (";", ";"), ("pipe", "|"),
        ("comma", ","), ("space", " "), ("Tab", "\t"), ("|", "|"),
    ],
)  # fmt: skip
def test_a_separator_can_be_given_by_its_name(tmp_path: Path, given: str, character: str) -> None:
    path = write(tmp_path, b"a,b\n1,2\n".replace(b",", character.encode()))
    assert read_frame(path, separator=given).to_numpy().tolist() == [[1, 2]]


@pytest.mark.parametrize("given", [";;", "tabs", "§", '"', "\n"])
def test_a_separator_that_is_none(tmp_path: Path, given: str) -> None:
    path = write(tmp_path, b"a,b\n1,2\n")
    with pytest.raises(DataError, match=r"^dataset.separator=.* is not one character; known names"):
        read_frame(path, separator=given)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_column_to_leave_out_must_be_there(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"t.{suffix}"
    frame = pd.DataFrame({"income": [1, 2], "b": [3, 4]})
    path.write_bytes(frame.to_csv(index=False).encode() if suffix == "csv" else frame.to_parquet())
    message = r"t.\w+: there is no column 'incom' .dataset.drop.; did you mean 'income'"
    with pytest.raises(DataError, match=message):
        read_frame(path, drop=["incom"])


def test_line_breaks_in_quotes_below_the_head(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blocks are cut at line ends: one of them is inside the quotes."""
    monkeypatch.setattr(table_file, "HEAD", 1000)
    monkeypatch.setattr(table_file, "BLOCK", 2000)
    address = "street\n" * 150
    content = "n,text\n" + "1,x\n" * 900 + f'2,"{address}"\n' + "3,y\n" * 600
    frame = read_frame(write(tmp_path, content.encode()))
    assert frame["n"].tolist() == [1] * 900 + [2] + [3] * 600
    assert frame["text"].iloc[900] == address
    ragged = content + "4,5,6\n"
    with pytest.raises(DataError, match=r"a row has 3 values where .* \(row 1502;"):
        read_frame(write(tmp_path, ragged.encode()))

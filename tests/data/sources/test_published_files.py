from __future__ import annotations

import math

import pytest

from pipeline.data.errors import DataError
from pipeline.data.sources.published_files import read_files
from pipeline.data.spec import Format, Table, TableExpect

COLUMNS = {"x": "number", "word": "text"}


def table(**layout: object) -> Table:
    return Table(COLUMNS, TableExpect(0, ""), format=Format(**layout))  # type: ignore[arg-type]


def read(*contents: bytes, **layout: object) -> list[list[object]]:
    files = {f"file {k}": content for k, content in enumerate(contents)}
    frame = read_files(files, table(**layout))
    assert list(frame.columns) == list(COLUMNS)
    return [list(row) for row in frame.itertuples(index=False)]


@pytest.mark.parametrize(
    ("content", "layout"),
    [
        (b"1.5,a\n-2,b c\n", {}),
        (b"1.5, a\r\n-2, b c\r\n\r\n", {}),
        (b'1.5,"a"\n-2,"b c"', {}),
        (b"1.5\ta\n-2\tb c\n", {"separator": "\t"}),
        (b"\xef\xbb\xbfword;other;x\na;0;1.5\nb c;0;-2\n", {"separator": ";", "header": True}),
        (b"|comment\n1.5,a.\n-2,b c.\n", {"comment": "|", "strip_end": {"word": "."}}),
        (b"@RELATION r\n@ATTRIBUTE x NUMERIC\n@Data\n% c\n1.5,a\n-2,b c\n", {"kind": "arff"}),
    ],
)
def test_formats(content: bytes, layout: dict[str, object]) -> None:
    assert read(content, **layout) == [[1.5, "a"], [-2.0, "b c"]]


def test_runs_of_white_space_separate() -> None:
    assert read(b"  1   a \n 22 b\n", separator="space") == [[1.0, "a"], [22.0, "b"]]


def test_files_are_joined_in_their_order() -> None:
    assert read(b"1,a\n", b"2,b\n") == [[1.0, "a"], [2.0, "b"]]


def test_missing_values() -> None:
    rows = read(b"?,a\n2,?\n", missing=["?"])
    assert math.isnan(rows[0][0])  # type: ignore[arg-type]
    assert rows[1] == [2.0, None]


def test_numbers_are_correctly_rounded() -> None:
    text = "0.1234567890123456789"
    assert read(f"{text},a\n".encode()) == [[float(text), "a"]]


def test_columns_that_are_not_declared_are_left_behind() -> None:
    frame = read_files({"f": b"name,x,word\nAnn,1,a\n"}, table(header=True))
    assert "Ann" not in frame.to_string()


@pytest.mark.parametrize(
    ("content", "layout", "message"),
    [
        (b"", {}, "is empty"),
        (b" \n\n", {}, "is empty"),
        (b"x,word\n", {"header": True}, "holds no rows"),
        (b"<!DOCTYPE html><html></html>", {}, "is a web page, not data"),
        (b"\n<html>", {}, "is a web page, not data"),
        (b"1;a\n", {}, "row 1: 2 columns expected, 1 found .wrong separator"),
        (b"x;word\n1;a\n", {"header": True}, "no column 'x' .2 of 2 declared.*separator right"),
        (b"x,y,z\n1,a,2\n", {"header": True}, "no column 'word' .1 of 2.*another version"),
        (b"1,a\n2\n", {}, "row 2: 2 columns expected, 1 found"),
        (b"x,word,x\n1,a,2\n", {"header": True}, "column 'x' is there more than once"),
        (b"one,a\ntwo,b\n", {}, "column 'x': 2 of 2 values are not numbers"),
        (b"nan,a\n", {}, "column 'x' holds NaN or infinite numbers"),
        (b"inf,a\n", {}, "column 'x' holds NaN or infinite numbers"),
        (b'1,"a\n', {}, "is not well-formed"),
        (b"\xff\xfe1,a\n", {}, "is not a text file in UTF-8"),
        (b"1,a\n", {"kind": "arff"}, "has no @DATA line"),
        (b"1,a\n", {"kind": "xls"}, "unknown format 'xls'"),
    ],
)
def test_bad_files(content: bytes, layout: dict[str, object], message: str) -> None:
    with pytest.raises(DataError, match=message):
        read(content, **layout)


def test_the_first_of_repeated_columns_if_declared() -> None:
    content = b"x,word,x\n1,a,2\n"
    assert read(content, header=True, repeated="first") == [[1.0, "a"]]

from __future__ import annotations

import io
import sys
import zipfile
from collections.abc import Callable
from typing import Any

import pytest

from pipeline.data.errors import DataError, UnavailableError
from pipeline.data.sources import Settings
from pipeline.data.sources.download import download, read_member

Make = Callable[..., Settings]


def zipped(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def read(content: bytes, *member: str, max_bytes: int = 1000) -> bytes:
    return read_member("a.zip", io.BytesIO(content), member, max_bytes)


def test_a_member_and_a_member_of_a_zip_in_the_zip() -> None:
    inner = zipped({"b/data.csv": b"1,2\n"})
    assert read(zipped({"data.csv": b"3\n"}), "data.csv") == b"3\n"
    assert read(zipped({"inner.zip": inner}), "inner.zip", "b/data.csv") == b"1,2\n"


@pytest.mark.parametrize("name", ["../x", "/etc/x", "a/../../x", "..\\x"])
def test_a_path_outside_the_folder(name: str) -> None:
    with pytest.raises(DataError, match=r"a.zip has a member outside its folder"):
        read(zipped({"data.csv": b"3\n", name: b""}), "data.csv")


def test_a_bomb_that_says_its_size() -> None:
    bomb = zipped({"data.csv": bytes(10_000_000)})
    assert len(bomb) < 20_000
    message = r"a.zip/data.csv has 10000000 bytes, the limit is 1000 \(data.max_bytes\)"
    with pytest.raises(DataError, match=message):
        read(bomb, "data.csv")


def test_a_bomb_that_lies_about_its_size() -> None:
    bomb = bytearray(zipped({"data.csv": bytes(10_000_000)}))
    true, false = (10_000_000).to_bytes(4, "little"), (500).to_bytes(4, "little")
    assert bomb.count(true) == 2  # in the local header and in the directory
    with pytest.raises(DataError, match="not a sound zip"):
        read(bytes(bomb.replace(true, false)), "data.csv")


def test_an_inner_zip_has_the_same_limit() -> None:
    inner = zipped({"data.csv": bytes(10_000_000)})
    with pytest.raises(DataError, match=r"a.zip/inner.zip/data.csv has 10000000 bytes"):
        read(zipped({"inner.zip": inner}), "inner.zip", "data.csv", max_bytes=20_000)


def test_damaged_archives() -> None:
    sound = zipped({"data.csv": b"3\n" * 100})
    with pytest.raises(DataError, match=r"a.zip has no member 'other.csv'"):
        read(sound, "other.csv")
    with pytest.raises(DataError, match=r"a.zip is not a sound zip"):
        read(sound[: len(sound) // 2], "data.csv")
    with pytest.raises(DataError, match=r"a.zip is not a sound zip"):
        read(sound.replace(b"\x08\x00", b"\x63\x00"), "data.csv")  # unknown compression


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_plain_lines_where_there_is_no_terminal(
    server: Any, make_settings: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    server.routes["/a.zip"] = bytes(2_000_000)
    download(f"{server.address}/a.zip", io.BytesIO(), make_settings())
    assert capsys.readouterr().err == "a.zip: fetching 2.0 MB\na.zip: 2.0 MB fetched\n"


def test_a_size_that_is_not_known(
    server: Any, make_settings: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    server.routes["/a.zip"] = lambda request: server.send(request, bytes(500_000), None)
    download(f"{server.address}/a.zip", io.BytesIO(), make_settings())
    assert capsys.readouterr().err == "a.zip: fetching\na.zip: 500.0 kB fetched\n"


@pytest.mark.parametrize(
    ("came", "announced", "text"),
    [(2_000_000, 2_000_000, "2.0/2.0 MB"), (500_000, None, "500.0/? kB")],
)
def test_a_bar_on_a_terminal(
    came: int, announced: int | None, text: str,
    server: Any, make_settings: Make, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    server.routes["/a.zip"] = lambda request: server.send(request, bytes(came), announced)
    download(f"{server.address}/a.zip", io.BytesIO(), make_settings())
    assert "a.zip" in stream.getvalue()
    assert text in stream.getvalue()
    assert "fetch" not in stream.getvalue()


def test_a_cut_off_download_is_not_called_fetched(
    server: Any, make_settings: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    server.routes["/a.zip"] = lambda request: server.send(request, bytes(9), 17)
    with pytest.raises(UnavailableError, match=r"cut off: 9 of 17 bytes|IncompleteRead"):
        download(f"{server.address}/a.zip", io.BytesIO(), make_settings())
    assert "fetched" not in capsys.readouterr().err

from __future__ import annotations

import io
import zipfile

import pytest

from pipeline.data.errors import DataError
from pipeline.data.sources.archive import read_member


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

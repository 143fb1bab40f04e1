from __future__ import annotations

import hashlib
import io
import multiprocessing
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pipeline.data.errors import DataError, MismatchError, UnavailableError
from pipeline.data.sources import Settings, find_table
from pipeline.data.spec import Table
from tests.commands import LONGEST

Make = Callable[..., Settings]
At = Callable[..., Table]


def left_behind(settings: Settings) -> list[str]:
    """What the cache folder holds, other than locks."""
    found = (path for path in settings.cache.rglob("*") if path.is_file())
    return sorted(
        str(path.relative_to(settings.cache)) for path in found if "locks" not in path.parts
    )


def zipped(name: str, content: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return buffer.getvalue()


def test_a_file_is_fetched_once_and_then_found_in_the_cache(
    server: Any, small: Table, content: bytes, at_address: At, make_settings: Make
) -> None:
    server.routes["/small.csv"] = content
    sha256 = hashlib.sha256(content).hexdigest()
    table, settings = (
        at_address(small, f"{server.address}/small.csv", sha256=sha256),
        make_settings(),
    )
    first, source = find_table("small", table, settings)
    assert source == "url"
    assert left_behind(settings) == ["tables/small.parquet"]
    server.close()
    again, source = find_table("small", table, make_settings(offline=True))
    assert source == "cache"
    assert first.equals(again)
    assert server.asked == ["/small.csv"]


def test_a_member_of_a_zip(
    server: Any, small: Table, content: bytes, at_address: At, make_settings: Make
) -> None:
    server.routes["/small.zip"] = zipped("a/small.csv", content)
    table = at_address(small, f"{server.address}/small.zip", "a/small.csv")
    assert find_table("small", table, make_settings())[1] == "url"


def test_two_files_of_one_archive_are_downloaded_once_and_joined_in_order(
    server: Any, small: Table, at_address: At, make_settings: Make
) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("2.csv", "x,word\n2,b\n")
        archive.writestr("1.csv", "x,word\n1.5,a\n")
    server.routes["/both.zip"] = buffer.getvalue()
    address = f"{server.address}/both.zip"
    files = [at_address(small, address, f"{k}.csv").files[0] for k in (1, 2)]
    files[0].path, files[1].path = "1", "2"
    small.files = files
    find_table("small", small, make_settings())
    assert server.asked == ["/both.zip"]


def test_offline_asks_nobody(
    server: Any, small: Table, content: bytes, at_address: At, make_settings: Make
) -> None:
    server.routes["/small.csv"] = content
    table = at_address(small, f"{server.address}/small.csv")
    with pytest.raises(UnavailableError, match=r"forbidden by data.offline=true"):
        find_table("small", table, make_settings(offline=True))
    assert server.asked == []


def bad_answers() -> list[Any]:
    good = b"x,word\n1.5,a\n2,b\n"
    many = good + b"3,c\n" * 1000
    return [
        pytest.param(404, {}, UnavailableError, "answers 404 Not Found", id="404"),
        pytest.param(503, {}, UnavailableError, "answers 503", id="503"),
        pytest.param(b"", {}, DataError, "is empty", id="empty"),
        pytest.param(b"<html>log in</html>", {}, DataError, "is a web page, not data", id="html"),
        pytest.param(good.replace(b".", b""), {}, MismatchError, "hash of values: ", id="values"),
        pytest.param(many, {}, MismatchError, "rows: expected 2, found 1002", id="rows"),
        pytest.param(good.replace(b",", b";"), {}, DataError, "separator right", id="delimiter"),
        pytest.param(many, {"max_bytes": 100}, DataError, "4017 bytes, the limit is", id="size"),
    ]  # fmt: skip


@pytest.mark.parametrize(("route", "limits", "error", "message"), bad_answers())
def test_a_bad_answer_is_a_clear_error_and_nothing_is_kept(
    route: Any, limits: dict[str, int], error: type[DataError], message: str,
    server: Any, small: Table, at_address: At, make_settings: Make,
) -> None:  # fmt: skip
    server.routes["/small.csv"] = route
    settings = make_settings(**limits)
    with pytest.raises(error, match=message):
        find_table("small", at_address(small, f"{server.address}/small.csv"), settings)
    assert left_behind(settings) == []


def test_a_wrong_sha256_shows_both(
    server: Any, small: Table, content: bytes, at_address: At, make_settings: Make
) -> None:
    server.routes["/small.csv"] = content
    table, settings = (
        at_address(small, f"{server.address}/small.csv", sha256="abc"),
        make_settings(),
    )
    found = hashlib.sha256(content).hexdigest()
    with pytest.raises(MismatchError, match=f"sha256: expected abc, found {found}"):
        find_table("small", table, settings)
    assert left_behind(settings) == []


def test_hostile_zips(server: Any, small: Table, at_address: At, make_settings: Make) -> None:
    settings = make_settings(max_bytes=100_000)
    for name, archive, message in (
        ("/bomb.zip", zipped("small.csv", bytes(10_000_000)), "has 10000000 bytes, the limit"),
        ("/path.zip", zipped("../small.csv", b"x"), "a member outside its folder"),
        ("/html.zip", b"<html></html>", "is a web page"),
        ("/text.zip", b"x,word\n", "is not a sound zip"),
    ):
        server.routes[name] = archive
        with pytest.raises(DataError, match=message):
            find_table("small", at_address(small, server.address + name, "small.csv"), settings)
    assert left_behind(settings) == []


def test_more_bytes_than_allowed_without_a_length(
    server: Any, small: Table, at_address: At, make_settings: Make
) -> None:
    server.routes["/s"] = lambda request: server.send(request, bytes(5000), None)
    with pytest.raises(DataError, match="has more than 1000 bytes, the limit is 1000"):
        find_table("small", at_address(small, f"{server.address}/s"), make_settings(max_bytes=1000))


def test_a_truncated_file(
    server: Any, small: Table, content: bytes, at_address: At, make_settings: Make
) -> None:
    server.routes["/s"] = lambda request: server.send(request, content[:9], len(content))
    settings = make_settings()
    with pytest.raises(UnavailableError, match=r"cut off: 9 of 17 bytes|IncompleteRead"):
        find_table("small", at_address(small, f"{server.address}/s"), settings)
    assert left_behind(settings) == []


def test_a_server_that_never_answers(
    server: Any, small: Table, at_address: At, make_settings: Make
) -> None:
    server.routes["/s"] = server.never
    with pytest.raises(UnavailableError, match="cannot be reached: no answer in time"):
        find_table("small", at_address(small, f"{server.address}/s"), make_settings(timeout=0.5))


def test_a_server_that_drips(
    server: Any, small: Table, at_address: At, make_settings: Make
) -> None:
    def drip(request: Any) -> None:
        request.send_response(200)
        request.end_headers()
        while not server.stopped.wait(0.05):
            request.wfile.write(b"1")

    server.routes["/s"] = drip
    with pytest.raises(UnavailableError, match=r"not done after 0.5 s"):
        find_table("small", at_address(small, f"{server.address}/s"), make_settings(time_limit=0.5))


def test_addresses_that_are_not_http(small: Table, at_address: At, make_settings: Make) -> None:
    with pytest.raises(DataError, match="is not an http address"):
        find_table("small", at_address(small, "file:///etc/hostname"), make_settings())
    with pytest.raises(UnavailableError, match="cannot be reached"):
        find_table("small", at_address(small, "http://127.0.0.1:9/x"), make_settings())


def fetch(table: Table, cache: Path, together: Any, results: Any) -> None:
    together.wait()
    frame, source = find_table("small", table, Settings.of(cache=cache, timeout=LONGEST))
    results.put((source, len(frame)))


def test_two_processes_at_once_fetch_once_and_keep_a_sound_file(
    server: Any, small: Table, content: bytes, at_address: At, make_settings: Make
) -> None:
    server.routes["/s"] = content
    table, settings = at_address(small, f"{server.address}/s"), make_settings()
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    arguments = (table, settings.cache, context.Barrier(2, timeout=LONGEST), results)
    processes = [context.Process(target=fetch, args=arguments) for _ in range(2)]
    for process in processes:
        process.start()
    found = sorted(results.get(timeout=LONGEST) for _ in processes)
    for process in processes:
        process.join(timeout=LONGEST)
        assert process.exitcode == 0
    assert found == [("cache", 2), ("url", 2)]
    assert server.asked == ["/s"]
    assert left_behind(settings) == ["tables/small.parquet"]


def test_a_damaged_cache_is_removed_and_fetched_again(
    server: Any, small: Table, content: bytes, at_address: At, make_settings: Make
) -> None:
    server.routes["/s"] = content
    table, settings = at_address(small, f"{server.address}/s"), make_settings()
    find_table("small", table, settings)
    (settings.cache / "tables" / "small.parquet").write_bytes(b"damaged")
    with pytest.raises(MismatchError, match="removed it, the next call fetches it again"):
        find_table("small", table, settings)
    assert find_table("small", table, settings)[1] == "url"


def test_personal_columns_of_a_download_are_never_written(
    server: Any, small: Table, at_address: At, make_settings: Make, capfd: Any
) -> None:
    server.routes["/s"] = b"name,x,word\nMiller,1.5,a\nSmith,2,b\n"
    settings = make_settings()
    find_table("small", at_address(small, f"{server.address}/s"), settings)
    written = b"".join(path.read_bytes() for path in settings.cache.rglob("*") if path.is_file())
    assert b"Miller" not in written
    assert "Miller" not in "".join(capfd.readouterr())

"""The real openml client against a server on the loopback interface."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pipeline.data.dataset import encode, value_hash
from pipeline.data.errors import DataError, MismatchError, UnavailableError
from pipeline.data.sources import Settings, find_table, openml_client
from pipeline.data.sources.openml_source import OpenMLSource
from pipeline.data.spec import OpenML, Table, read_spec

Make = Callable[..., Settings]
OFFICIAL = "https://www.openml.org/api/v1/xml"
here = pytest.mark.usefixtures("in_this_process")
ARFF = b"@RELATION r\n@ATTRIBUTE V1 REAL\n@ATTRIBUTE V2 {1,2}\n@DATA\n1.5,1\n2,2\n"
DESCRIPTION = """<oml:data_set_description xmlns:oml="http://openml.org/openml">
  <oml:id>7</oml:id><oml:name>small</oml:name><oml:version>1</oml:version>
  <oml:description>two rows</oml:description><oml:format>ARFF</oml:format>
  <oml:url>{address}/small.arff</oml:url><oml:file_id>7</oml:file_id>
  <oml:default_target_attribute>V2</oml:default_target_attribute>
  <oml:visibility>public</oml:visibility><oml:status>active</oml:status>
  <oml:md5_checksum>{md5}</oml:md5_checksum>
</oml:data_set_description>"""
NOT_FOUND = b"""<oml:error xmlns:oml="http://openml.org/openml">
  <oml:code>111</oml:code><oml:message>Unknown dataset</oml:message></oml:error>"""


@pytest.fixture
def on_openml(small: Table) -> Table:
    small.openml = OpenML(7, {"word": {1: "a", 2: "b"}})
    return small


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Run the client here: its import takes seconds, which only two tests need to pay."""

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        data_id, folder, server = command[-3:]
        openml_client.main(int(data_id), Path(folder), server or OFFICIAL)
        return subprocess.CompletedProcess(command, 0, "", "")

    for name in ("HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path))  # the client changes them
    monkeypatch.setattr("pipeline.data.sources.openml_source.subprocess.run", run)


@pytest.fixture
def openml_settings(server: Any, make_settings: Make) -> Make:
    def make(**changes: Any) -> Settings:
        # The client's import alone may take many seconds on a busy machine.
        address = f"{server.address}/api/v1/xml"
        return make_settings(**{"openml_server": address, "timeout": 20.0, **changes})

    return make


def offer(server: Any, arff: bytes | Callable[[Any], None], md5: str | None = None) -> None:
    md5 = hashlib.md5(ARFF).hexdigest() if md5 is None else md5
    description = DESCRIPTION.format(address=server.address, md5=md5)
    server.routes["/api/v1/xml/data/7"] = description.encode()
    server.routes["/small.arff"] = arff


def kept(settings: Settings) -> list[str]:
    found = (path for path in settings.cache.rglob("*") if path.is_file())
    return sorted(path.name for path in found if "locks" not in path.parts)


def test_a_good_answer_is_kept_and_found_again_without_the_server(
    server: Any, on_openml: Table, openml_settings: Make
) -> None:
    offer(server, ARFF)
    settings = openml_settings()
    frame, source = find_table("small", on_openml, settings)
    assert source == "openml"
    assert frame["x"].tolist() == [1.5, 2.0]
    assert frame["word"].tolist() == ["a", "b"]
    assert kept(settings) == ["small.parquet"]
    server.close()
    again, source = find_table("small", on_openml, settings)
    assert source == "cache"
    assert again.equals(frame)


@here
def test_404(on_openml: Table, openml_settings: Make) -> None:
    settings = openml_settings()
    with pytest.raises(
        UnavailableError, match=r"openml: OpenML 7: OpenMLServerError: .*Status code: 404$"
    ):
        find_table("small", on_openml, settings)
    assert kept(settings) == []


@here
def test_the_servers_own_word_for_an_unknown_dataset(
    server: Any, on_openml: Table, openml_settings: Make
) -> None:
    def unknown(request: Any) -> None:
        request.send_response(412)
        request.end_headers()
        request.wfile.write(NOT_FOUND)

    server.routes["/api/v1/xml/data/7"] = unknown
    with pytest.raises(UnavailableError, match="Unknown dataset"):
        find_table("small", on_openml, openml_settings())


@here
def test_a_wrong_checksum(server: Any, on_openml: Table, openml_settings: Make) -> None:
    offer(server, ARFF.replace(b"1.5", b"15"))
    settings = openml_settings()
    with pytest.raises(DataError, match="OpenML 7: wrong checksum"):
        find_table("small", on_openml, settings)
    assert kept(settings) == []


@here
def test_a_truncated_file(server: Any, on_openml: Table, openml_settings: Make) -> None:
    offer(server, lambda request: server.send(request, ARFF[:60], len(ARFF)))
    settings = openml_settings()
    with pytest.raises(DataError, match="OpenML 7: "):
        find_table("small", on_openml, settings)
    assert kept(settings) == []


@here
def test_a_file_that_lost_its_decimal_point_with_the_checksum_of_it(
    server: Any, on_openml: Table, openml_settings: Make
) -> None:
    damaged = ARFF.replace(b"1.5", b"15")
    offer(server, damaged, hashlib.md5(damaged).hexdigest())
    settings = openml_settings()
    with pytest.raises(MismatchError, match="hash of values: expected"):
        find_table("small", on_openml, settings)
    assert kept(settings) == []


def test_a_server_that_never_answers_is_given_up(
    server: Any, on_openml: Table, openml_settings: Make
) -> None:
    server.routes["/api/v1/xml/data/7"] = server.never
    settings = openml_settings(time_limit=8.0)
    start = time.monotonic()
    with pytest.raises(UnavailableError, match="OpenML 7: no answer within 8 s"):
        find_table("small", on_openml, settings)
    assert time.monotonic() - start < 20
    assert kept(settings) == []


@here
def test_another_number_of_columns(server: Any, on_openml: Table, openml_settings: Make) -> None:
    offer(server, ARFF)
    on_openml.columns = {**on_openml.columns, "third": "number"}
    with pytest.raises(DataError, match="OpenML 7: 3 columns expected, 2 found"):
        find_table("small", on_openml, openml_settings())


@here
def test_any_dataset_as_the_client_gives_it(server: Any, openml_settings: Make) -> None:
    offer(server, ARFF)
    frame, target = OpenMLSource(openml_settings()).frame(7)
    assert list(frame.columns) == ["V1", "V2"]
    assert target == "V2"


@here
@pytest.mark.parametrize("name", ["blood", "diabetes", "eeg_eye", "australian", "churn"])
def test_the_five_from_a_prefilled_openml_cache(
    name: str, mirror: Path, tmp_path: Path, make_settings: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same values as the raw files, although names and labels differ; no server is asked."""
    users = tmp_path / "users"
    spec = read_spec(name)
    recipe = spec.protocols["inferred"]
    table = spec.tables[recipe.table]
    assert table.openml is not None
    place = Path("org/openml/www/datasets") / str(table.openml.data_id)
    shutil.copytree(mirror / "openml" / place, users / place)
    (users / place / "dataset.pkl.py3").write_bytes(b"not to be loaded")
    monkeypatch.setenv("OPENML_CACHE_DIR", str(users))
    table.bundled = False
    frame, source = find_table(recipe.table, table, make_settings(timeout=20.0))
    assert source == "openml"
    dataset = encode(spec, "inferred", frame, source)
    assert value_hash(dataset.X, dataset.y) == recipe.expect.sha256
    left = {path.name for path in (users / place).iterdir()}
    assert left == {path.name for path in (mirror / "openml" / place).iterdir()} | {
        "dataset.pkl.py3"
    }

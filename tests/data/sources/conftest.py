from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pipeline.data.reader import read_files
from pipeline.data.sources import Settings, openml_client
from pipeline.data.spec import Format, RawFile, Table, TableExpect, Url
from pipeline.data.table import table_hash

CONTENT = b"x,word\n1.5,a\n2,b\n"
OPENML = "https://www.openml.org/api/v1/xml"
DESCRIPTION = """<oml:data_set_description xmlns:oml="http://openml.org/openml">
  <oml:id>{id}</oml:id><oml:name>{name}</oml:name><oml:version>1</oml:version>
  <oml:description>rows</oml:description><oml:format>ARFF</oml:format>
  <oml:url>{address}/{name}.arff</oml:url><oml:file_id>{id}</oml:file_id>
  <oml:default_target_attribute>{target}</oml:default_target_attribute>
  <oml:visibility>public</oml:visibility><oml:status>active</oml:status>
  <oml:md5_checksum>{md5}</oml:md5_checksum>
</oml:data_set_description>"""


@pytest.fixture
def small() -> Table:
    """Two rows of a number and a text, nowhere to be found yet."""
    table = Table({"x": "number", "word": "text"}, TableExpect(2, ""), format=Format(header=True))
    table.expect.sha256 = table_hash(read_files([("f", CONTENT)], table))
    return table


@pytest.fixture
def content() -> bytes:
    """The raw file of the small table."""
    return CONTENT


def at_address(table: Table, address: str, *member: str, sha256: str | None = None) -> Table:
    table.files = [RawFile("small/small.csv", url=Url(address, list(member), sha256))]
    return table


@pytest.fixture(name="at_address")
def at_address_fixture() -> object:
    return at_address


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Run the openml client here: its import takes seconds, which only few tests need to pay."""

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        data_id, folder, server, most = command[-4:]
        openml_client.main(int(data_id), Path(folder), server or OPENML, int(most))
        return subprocess.CompletedProcess(command, 0, "", "")

    for name in ("HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path))  # the client changes them
    monkeypatch.setattr("pipeline.data.sources.openml_source.subprocess.run", run)


@pytest.fixture
def openml_settings(server: Any, make_settings: Callable[..., Settings]) -> object:
    """Settings with the loopback server as OpenML."""

    def make(**changes: Any) -> Settings:
        # The client's import alone may take many seconds on a busy machine.
        address = f"{server.address}/api/v1/xml"
        return make_settings(**{"openml_server": address, "timeout": 300.0, **changes})

    return make


@pytest.fixture
def offer(server: Any) -> object:
    """Let the server have dataset 7, whose file is a body or a route, of a given checksum."""

    def offer(arff: Any, md5: str | None = None) -> None:
        md5 = hashlib.md5(arff).hexdigest() if md5 is None else md5
        description = DESCRIPTION.format(
            id=7, name="small", target="V2", address=server.address, md5=md5
        )
        server.routes["/api/v1/xml/data/7"] = description.encode()
        server.routes["/small.arff"] = arff

    return offer

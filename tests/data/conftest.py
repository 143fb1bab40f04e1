from __future__ import annotations

import hashlib
import subprocess
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from pipeline.data.sources import Settings, openml_client
from pipeline.data.sources.settings import CACHE, MIRROR, RAW
from pipeline.files import conf_dir
from tests.commands import LONGEST
from tests.data.published import write_mirror

OPENML = "https://www.openml.org/api/v1/xml"
DESCRIPTION = """<oml:data_set_description xmlns:oml="http://openml.org/openml">
  <oml:id>{id}</oml:id><oml:name>{name}</oml:name><oml:version>1</oml:version>
  <oml:description>rows</oml:description><oml:format>ARFF</oml:format>
  <oml:url>{address}/{name}.arff</oml:url><oml:file_id>{id}</oml:file_id>
  <oml:default_target_attribute>{target}</oml:default_target_attribute>
  <oml:visibility>public</oml:visibility><oml:status>active</oml:status>
  <oml:md5_checksum>{md5}</oml:md5_checksum>
</oml:data_set_description>"""
Route = bytes | int | Callable[[BaseHTTPRequestHandler], None]


@pytest.fixture(scope="session")
def mirror(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the published files."""
    folder = tmp_path_factory.mktemp("mirror")
    write_mirror(folder)
    return folder


@pytest.fixture
def not_bundled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The ten datasets as one declares others: none of their tables comes with the package."""
    folder = tmp_path / "conf" / "dataset"
    folder.mkdir(parents=True)
    for path in (conf_dir() / "dataset").glob("*.yaml"):
        (folder / path.name).write_text(path.read_text().replace("    bundled: true\n", ""))
    monkeypatch.setattr("pipeline.data.spec.conf_dir", lambda: folder.parent)


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No mirror and an empty cache, unless a test asks for them; loopback without a proxy."""
    monkeypatch.delenv(MIRROR, raising=False)
    monkeypatch.delenv("OPENML_CACHE_DIR", raising=False)
    monkeypatch.setenv(CACHE, str(tmp_path / "cache"))
    monkeypatch.setenv(RAW, str(tmp_path / "raw"))
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.setenv(name, "127.0.0.1")


@pytest.fixture
def make_settings(tmp_path: Path) -> Callable[..., Settings]:
    def make(**changes: Any) -> Settings:
        return Settings.of(**{"cache": tmp_path / "cache", "timeout": float(LONGEST), **changes})

    return make


class Server:
    """A web server on the loopback interface; a route is a body, a status, or a function."""

    def __init__(self) -> None:
        self.routes: dict[str, Route] = {}
        self.asked: list[str] = []
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                owner.answer(self)

            def log_message(self, *_: Any) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.stopped = threading.Event()
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.http.server_port}"

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        self.asked.append(request.path)
        route = self.routes.get(request.path, 404)
        if callable(route):
            route(request)
        elif isinstance(route, int):
            request.send_error(route)
        else:
            self.send(request, route, len(route))

    def send(self, request: BaseHTTPRequestHandler, body: bytes, length: int | None) -> None:
        """Answer with a body; the length may be another one, or be left unsaid."""
        request.send_response(200)
        if length is not None:
            request.send_header("Content-Length", str(length))
        request.end_headers()
        request.wfile.write(body)

    def never(self, _: BaseHTTPRequestHandler) -> None:
        """Accept the request and stay silent."""
        self.stopped.wait()

    def close(self) -> None:
        self.stopped.set()
        self.http.shutdown()
        self.http.server_close()


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.close()


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Run the openml client here: its import takes seconds, which only few tests need to pay."""

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        data_id, folder, server, most = command[-4:]
        openml_client.main(int(data_id), Path(folder), server or OPENML, int(most))
        return subprocess.CompletedProcess(command, 0, "", "")

    for name in ("HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path))  # the client changes them
    monkeypatch.setattr("pipeline.data.sources.openml.subprocess.run", run)


@pytest.fixture
def openml_settings(server: Any, make_settings: Callable[..., Settings]) -> object:
    """Settings with the loopback server as OpenML."""

    def make(**changes: Any) -> Settings:
        # The client's import alone may take many seconds on a busy machine.
        address = f"{server.address}/api/v1/xml"
        return make_settings(**{"openml_server": address, "timeout": float(LONGEST), **changes})

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

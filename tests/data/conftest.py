from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from pipeline.data.sources import Settings
from pipeline.data.sources.settings import CACHE, MIRROR, RAW
from pipeline.paths import conf_dir
from tests.data.published import write_mirror

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
        return Settings.of(**{"cache": tmp_path / "cache", "timeout": 300.0, **changes})

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

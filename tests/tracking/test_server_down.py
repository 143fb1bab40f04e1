"""A server that is down, silent or no server at all: one clear line, soon."""

import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from pipeline.tracking import store
from pipeline.tracking.errors import TrackingError
from pipeline.tracking.store import IMPATIENT
from pipeline.tracking.sweep import Sweep
from pipeline.tracking.tracker import log_job, open_sweep
from tests.tracking.made import TODAY, make_run

LATER = "log them later with: python -m pipeline.sync (and outputs=… as in this command)"


@pytest.fixture
def closed() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


class Silent:
    """A server that takes every call and never says a word."""

    def __init__(self, server: socket.socket) -> None:
        self.server = server
        self.address = f"127.0.0.1:{server.getsockname()[1]}"

    def calls(self) -> int:
        """Return how many calls have come since it was last asked."""
        found = 0
        self.server.setblocking(False)
        with suppress(BlockingIOError):
            while True:
                self.server.accept()[0].close()
                found += 1
        return found


@pytest.fixture
def silent() -> Iterator[Silent]:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen(50)
        yield Silent(server)


def opening(uri: str, outputs: Path) -> str:
    settings = {"name": "mlflow", "uri": uri, "experiment": "onesided"}
    with pytest.raises(TrackingError) as raised:
        open_sweep(settings, outputs, Sweep({}), many=True)
    message = str(raised.value)
    assert "\n" not in message
    assert message.endswith(LATER)
    return message


def test_nothing_listens(closed: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    message = opening(f"http://{closed}", tmp_path)
    assert message.startswith(f"MLflow at http://{closed}: nothing listens there")
    assert capfd.readouterr() == ("", "")


def test_a_silent_server_is_given_up_in_seconds(
    silent: Silent, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert "the server did not answer in time" in opening(f"http://{silent.address}", tmp_path)
    assert silent.calls() == 1 + int(IMPATIENT["MLFLOW_HTTP_REQUEST_MAX_RETRIES"])
    assert int(IMPATIENT["MLFLOW_HTTP_REQUEST_TIMEOUT"]) <= 5  # seconds, for each of them
    assert capfd.readouterr() == ("", "")


def test_a_silent_server_is_not_asked_for_every_job(
    silent: Silent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", "1")  # of the user: it counts
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    monkeypatch.setattr(store, "SECONDS_OF_SILENCE", 1e6)  # it does not end during the test
    tracking = {"uri": f"http://{silent.address}", "experiment_id": "1", "parent": None}
    entry, calls = make_run(tmp_path), []
    for _ in range(3):
        with pytest.raises(TrackingError, match="the server did not answer in time"):
            log_job(tracking, entry, TODAY)
        calls.append(silent.calls())
    assert calls == [1, 0, 0]


@pytest.mark.parametrize(
    ("uri", "why"),
    [
        ("htp://127.0.0.1:5000", "not an address MLflow knows"),
        ("mlruns", "a folder is no store"),
        ("file:///nowhere/mlruns", "a folder is no store"),
        ("sqlite:////proc/nowhere/mlflow.db", "there is no such folder"),
        ("http://no-such-host.invalid", "no such host"),
    ],
)
def test_no_server_at_all(uri: str, why: str, tmp_path: Path) -> None:
    assert why in opening(uri, tmp_path)


def test_a_password_is_not_shown(closed: str, tmp_path: Path) -> None:
    message = opening(f"http://me:secret@{closed}", tmp_path)
    assert "secret" not in message
    assert f"http://…@{closed}" in message

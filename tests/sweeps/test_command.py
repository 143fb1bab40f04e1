"""How a command ends: its exit code, and what MLflow is told of it."""

from __future__ import annotations

import errno
import signal
from pathlib import Path

import pytest

from pipeline.command_line import Stopped
from pipeline.results.journal import Journal, Run
from pipeline.sweeps import command

SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)


class Desk:
    """Notes how it is closed."""

    def __init__(self, folder: Path) -> None:
        self.journal = Journal(folder)
        self.closed: list[tuple[int, bool]] = []

    def close(self, failed: int, killed: bool) -> None:
        self.closed.append((failed, killed))


@pytest.mark.parametrize(
    ("code", "lost", "ends_with", "killed"),
    [
        (0, 0, 0, False),
        (0, 2, 1, False),
        (1, 2, 1, False),
        *((128 + number, 3, 128 + number, True) for number in SIGNALS),
    ],
)
def test_exit_codes_and_what_mlflow_is_told(
    code: int,
    lost: int,
    ends_with: int,
    killed: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    desk = Desk(tmp_path)
    monkeypatch.setattr(command, "report", lambda *_, **__: lost)
    assert command._close(desk, 5, code) == ends_with  # type: ignore[arg-type]
    assert desk.closed == [(lost, killed)]


def test_a_stop_while_the_table_is_shown_still_reaches_mlflow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object, **__: object) -> int:
        raise Stopped(signal.SIGTERM)

    desk = Desk(tmp_path)
    monkeypatch.setattr(command, "report", stopped)
    assert command._close(desk, 5, 0) == 128 + signal.SIGTERM  # type: ignore[arg-type]
    assert desk.closed == [(5, True)]


def test_a_full_disk_keeps_nothing_from_mlflow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> int:
        raise OSError(errno.ENOSPC, "no space")

    desk = Desk(tmp_path)
    desk.journal.write(Run(0, "computed"))
    monkeypatch.setattr(command, "report", full)
    assert command._close(desk, 5, 0) == 1  # type: ignore[arg-type]
    assert desk.closed == [(4, False)]

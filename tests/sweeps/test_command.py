"""How a command ends: its exit code, and what MLflow is told of it."""

from __future__ import annotations

import errno
import signal
from pathlib import Path
from typing import Any

import pytest

from pipeline.command_line import Stopped
from pipeline.results.journal import Journal, Run
from pipeline.sweeps import command, desk

SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)


class Desk:
    """Notes how it is closed."""

    def __init__(self, folder: Path, stopped: bool = False) -> None:
        self.journal, self.stopped = Journal(folder), stopped
        self.closed: list[tuple[int, bool]] = []

    def close(self, failed: int, killed: bool) -> None:
        self.closed.append((failed, killed))
        if self.stopped:
            raise Stopped(signal.SIGTERM)


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
    a_desk = Desk(tmp_path)
    monkeypatch.setattr(command, "report", lambda *_, **__: lost)
    assert command._close(a_desk, 5, code) == ends_with  # type: ignore[arg-type]
    assert a_desk.closed == [(lost, killed)]


def test_a_stop_while_the_table_is_shown_still_reaches_mlflow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object, **__: object) -> int:
        raise Stopped(signal.SIGTERM)

    a_desk = Desk(tmp_path)
    monkeypatch.setattr(command, "report", stopped)
    assert command._close(a_desk, 5, 0) == 128 + signal.SIGTERM  # type: ignore[arg-type]
    assert a_desk.closed == [(5, True)]


@pytest.mark.parametrize(("code", "ends_with"), [(0, 128 + signal.SIGTERM), (129, 129)])
def test_a_stop_while_mlflow_is_told_has_a_code_of_its_own(
    code: int, ends_with: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_desk = Desk(tmp_path, stopped=True)
    monkeypatch.setattr(command, "report", lambda *_, **__: 0)
    assert command._close(a_desk, 5, code) == ends_with  # type: ignore[arg-type]


def test_a_stop_while_mlflow_is_told_still_ends_the_run_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[bool] = []

    def close_sweep(*arguments: Any) -> None:
        told.append(arguments[3])
        if len(told) == 1:
            raise Stopped(signal.SIGTERM)

    monkeypatch.setattr(desk, "close_sweep", close_sweep)
    wanted = {"name": "mlflow", "uri": None}
    opened = desk.open_desk(tmp_path / "sweep", tmp_path, "run", [["a=1"]], wanted, print)
    opened._tracking = {"uri": "x", "parent": "1"}
    with pytest.raises(Stopped):
        opened.close(failed=0)
    assert told == [False, True]


def test_a_full_disk_keeps_nothing_from_mlflow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> int:
        raise OSError(errno.ENOSPC, "no space")

    a_desk = Desk(tmp_path)
    a_desk.journal.write(Run(0, "computed"))
    monkeypatch.setattr(command, "report", full)
    assert command._close(a_desk, 5, 0) == 1  # type: ignore[arg-type]
    assert a_desk.closed == [(4, False)]

"""How a command ends: its exit code, and what MLflow is told of it."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from pipeline.results.journal import Journal
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


@pytest.mark.parametrize("number", SIGNALS[::2], ids=lambda number: number.name)
def test_a_signal_ends_a_block_as_ctrl_c_does_and_is_left_as_it_was(number: signal.Signals) -> None:
    before = signal.getsignal(number)

    def stopped() -> None:
        with command._stopped_by_signals():
            signal.raise_signal(number)

    with pytest.raises(KeyboardInterrupt) as stop:
        stopped()
    assert stop.value.code == 128 + number  # type: ignore[attr-defined]
    assert signal.getsignal(number) is before

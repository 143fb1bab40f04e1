"""How the commands end: what stops them, and what does not."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator

import pytest

from pipeline.command_line import guarded, stopped_by_signals

SIGNALS = (signal.SIGHUP, signal.SIGTERM)


@pytest.fixture(autouse=True)
def heard() -> Iterator[None]:
    """Hear signals as a terminal's programs do, also where the tests run under nohup."""
    before = {number: signal.signal(number, signal.SIG_DFL) for number in SIGNALS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
def test_a_signal_ends_a_block_as_ctrl_c_does_and_is_left_as_it_was(number: signal.Signals) -> None:
    before = signal.getsignal(number)

    def stopped() -> None:
        with stopped_by_signals():
            signal.raise_signal(number)

    with pytest.raises(KeyboardInterrupt) as stop:
        stopped()
    assert stop.value.code == 128 + number  # type: ignore[attr-defined]
    assert signal.getsignal(number) is before


def test_what_nohup_has_silenced_stays_silent() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with stopped_by_signals():
            signal.raise_signal(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
def test_every_command_ends_with_the_code_of_its_signal(
    number: signal.Signals, capsys: pytest.CaptureFixture[str]
) -> None:
    assert guarded(lambda: signal.raise_signal(number) or 0, {}) == 128 + number
    assert "stopped" in capsys.readouterr().err


def test_another_thread_than_the_first_may_run_a_command() -> None:
    codes: list[int] = []
    thread = threading.Thread(target=lambda: codes.append(guarded(lambda: 7, {ValueError: 1})))
    thread.start()
    thread.join()
    assert codes == [7]

from __future__ import annotations

import io
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from pipeline.results.journal import Journal, Run
from pipeline.sweeps.progress import Bar, following
from pipeline.view.names import alpha_text, cutoff_name, loss_text, run_text
from tests.commands import LONGEST

LABELS = {
    "protocol": "inferred",
    "dataset": "blood",
    "link": "linear",
    "cutoff": "0.5",
    "method": "ours",
}
DONE = Run(
    *(0, "computed", LABELS),
    summary={"loss": 12.5, "standard_error": 0.5, "alpha": 0.125},
    seconds=1.2,
)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(journal: Journal, stream: io.StringIO, total: int, *entries: Run) -> str:
    """Return what is seen of a sweep whose cells write these entries."""
    with following(journal, lambda entry: entry, Bar(total, stream), lambda: None):
        for entry in entries:
            journal.write(entry)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("alpha", "text"),
    [(4.0, "4"), (0.25, "1/4"), (2.0**-10, "1/1024"), (0.0, "–"), (0.3, "0.3"), (1.0, "1")],
)
def test_alpha(alpha: float, text: str) -> None:
    assert alpha_text(alpha) == text


def test_texts() -> None:
    assert cutoff_name("0.55") == "55%"
    assert cutoff_name("value_0.3") == "c = 0.3"
    assert loss_text(12.5, 0.5) == "12.50 ± 0.50"
    assert loss_text(1.0, None) == "1.00"
    assert run_text(DONE).split() == [
        "blood", "linear", "50%", "ours", "loss", "12.50", "±", "0.50", "alpha", "1/8", "1.2", "s",
    ]  # fmt: skip


def test_a_log_gets_a_line_for_each_cell_and_no_bar(tmp_path: Path) -> None:
    failed = DONE.but(number=1, state="failed", reason="it broke")
    running = DONE.but(number=2, state="running")
    lines = shown(Journal(tmp_path), io.StringIO(), 3, DONE, failed, running).splitlines()
    assert [line[:5] for line in lines] == ["[1/3]", "[2/3]"]
    assert "FAILED: it broke" in lines[1]
    assert "\033" not in "".join(lines)


def test_a_terminal_gets_one_bar_and_the_failures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"TERM": "xterm-256color", "COLUMNS": "120"}.items():
        monkeypatch.setenv(name, value)
    failed = DONE.but(number=1, state="failed", reason="it [bold]broke[/bold]")
    running = DONE.but(number=2, state="running", progress=0.5)
    text = shown(Journal(tmp_path), Terminal(), 4, DONE, failed, running)
    assert "1 failed · blood linear 50% ours 50%" in text
    assert "FAILED: it [bold]broke[/bold]" in text  # as it is: no markup of ours
    assert "loss" not in text  # of what went well


def test_what_is_logged_is_logged_once_and_then_shown(tmp_path: Path) -> None:
    logged: list[int] = []

    def log(entry: Run) -> Run:
        logged.append(entry.number)
        return entry.but(state="failed", reason="as logged")

    stream = io.StringIO()
    journal = Journal(tmp_path)
    with following(journal, log, Bar(2, stream), lambda: None):
        journal.write(DONE.but(state="running"))
        journal.write(DONE.but(number=1))
    with following(journal, log, Bar(2, stream), lambda: None):
        pass
    assert logged == [1, 1]  # once for each who follows
    assert stream.getvalue().count("as logged") == 2


def test_a_block_that_fails_is_followed_to_its_end(tmp_path: Path) -> None:
    stream = io.StringIO()
    journal = Journal(tmp_path)

    def fail() -> None:
        with following(journal, lambda entry: entry, Bar(1, stream), lambda: None):
            journal.write(DONE)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert stream.getvalue().startswith("[1/1] blood")


def test_a_stop_waits_for_what_is_being_logged_and_for_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Left alone, the thread would die with the command, half a run being logged."""
    begun, go = threading.Event(), threading.Event()
    stops, logged = [KeyboardInterrupt], list[int]()

    class Event(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            if timeout is None and stops:  # the parent waits for the end of the thread
                raise stops.pop()
            if timeout is None:
                go.set()
            return super().wait(timeout)

    def log(entry: Run) -> Run:
        begun.set()
        assert go.wait(LONGEST)
        logged.append(entry.number)
        return entry

    def follow() -> None:
        with following(journal, log, Bar(2, io.StringIO()), lambda: None):
            for number in range(2):
                journal.write(DONE.but(number=number))
            assert begun.wait(LONGEST)

    patched = SimpleNamespace(Thread=threading.Thread, Event=Event)
    monkeypatch.setattr("pipeline.sweeps.progress.threading", patched)
    journal = Journal(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        follow()
    assert logged == [0]

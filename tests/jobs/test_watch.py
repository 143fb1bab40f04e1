from __future__ import annotations

import io
from pathlib import Path

import pytest

from pipeline.jobs.lines import alpha_text, job_text, loss_text
from pipeline.jobs.watch import CLEAR, Watch
from pipeline.paper.names import cutoff_name
from pipeline.results.sweeps import Entry, Journal

LABELS = {
    "protocol": "inferred",
    "dataset": "blood",
    "link": "linear",
    "cutoff": "0.5",
    "method": "ours",
}
DONE = Entry(
    *(0, "computed", LABELS),
    summary={"loss": 12.5, "standard_error": 0.5, "alpha": 0.125},
    seconds=1.2,
)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


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
    assert job_text(DONE).split() == [
        "blood", "linear", "50%", "ours", "loss", "12.50", "±", "0.50", "alpha", "1/8", "1.2", "s",
    ]  # fmt: skip


def test_a_log_gets_a_line_for_each_job(tmp_path: Path) -> None:
    journal, stream = Journal(tmp_path), io.StringIO()
    watch = Watch(journal, 3, stream, interval=0.01)
    watch.start()
    journal.write(DONE)
    journal.write(DONE.but(number=1, state="failed", reason="it broke"))
    journal.write(DONE.but(number=2, state="running"))
    watch.stop()
    lines = stream.getvalue().splitlines()
    assert [line[:5] for line in lines] == ["[1/3]", "[2/3]"]
    assert "FAILED: it broke" in lines[1]
    assert CLEAR not in stream.getvalue()


def test_a_terminal_gets_one_bar_and_the_failures(tmp_path: Path) -> None:
    journal, stream = Journal(tmp_path), Terminal()
    watch = Watch(journal, 4, stream, interval=0.01)
    journal.write(DONE)
    journal.write(DONE.but(number=1, state="failed", reason="it broke"))
    journal.write(DONE.but(number=2, state="running", progress=0.5))
    watch.start()
    watch.stop()
    shown = stream.getvalue()
    assert "2/4" in shown
    assert "1 failed" in shown
    assert "blood linear 50% ours 50%" in shown
    assert shown.count("\n") == 1  # that of the failure
    assert shown.endswith(CLEAR)

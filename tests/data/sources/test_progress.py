from __future__ import annotations

import io

from pipeline.data.sources.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_plain_lines_where_there_is_no_terminal() -> None:
    stream = io.StringIO()
    progress = Progress("a.zip", 2_000_000, stream)
    progress.advance(2_000_000)
    progress.close(complete=True)
    assert stream.getvalue() == "a.zip: fetching 2.0 MB\na.zip: 2.0 MB fetched\n"


def test_a_bar_on_a_terminal() -> None:
    stream = Terminal()
    progress = Progress("a.zip", 2_000_000, stream)
    progress.advance(1_000_000)
    progress.close(complete=False)
    bar = "█" * 15 + "·" * 15
    assert stream.getvalue().endswith(f"\ra.zip: {bar}  50% of 2.0 MB stopped\n")


def test_a_size_that_is_not_known() -> None:
    stream = Terminal()
    progress = Progress("a.zip", None, stream)
    progress.advance(500_000)
    progress.close(complete=True)
    assert stream.getvalue().endswith("\ra.zip: 0.5 MB\n")

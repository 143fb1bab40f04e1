"""Pages for people who read files."""

from __future__ import annotations

from collections.abc import Sequence


def markdown_line(cells: Sequence[str]) -> str:
    """Return a line of a Markdown table."""
    return f"| {' | '.join(cells)} |"

"""What a terminal is shown: nothing that moves its cursor, nothing it has no letter for."""

from __future__ import annotations

import sys


def any_terminal() -> None:
    """Have letters that a terminal cannot show replaced: results must not fail for want of a ±."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:  # a notebook's has none
            reconfigure(errors="replace")


def complain(text: str) -> None:
    """Say what is wrong, line by line: it may name columns of others, or quote a server."""
    lines = map(printable, text.split("\n"))
    print("\n".join(lines), file=sys.stderr, flush=True)


def printable(text: str) -> str:
    """Return a text with its escape codes and other control letters replaced.

    Names of groups and columns come from tables of others, and a terminal obeys what it is sent.
    """
    return "".join(letter if letter.isprintable() else "�" for letter in text)


def short(text: str, longest: int) -> str:
    """Return a text, cut where it is too long."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"

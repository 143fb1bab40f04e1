"""Pieces of HTML: texts, tables, what is folded, and a whole page of ``pipeline.view.page``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape

from pipeline.view.page import Block, Commands, Heading, Items, Page, Picture, Text, TextTable

FIGURE = re.compile(r"[−+–]?\d|–$")  # how the text of a figure begins; all else is words
LONG = 15  # rows, from which on a table of a page is folded


def prose(text: str) -> str:
    """Return text in which what stands between backticks is code."""
    parts = (escape(part) for part in text.split("`"))
    return "".join(f"<code>{p}</code>" if k % 2 else p for k, p in enumerate(parts))


def commands(lines: Iterable[str]) -> str:
    """Return lines for a shell, each in a box of its own."""
    return "".join(f'<pre class="command">{escape(line)}</pre>' for line in lines)


def table(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in a box of its own to scroll in; columns of figures are right-aligned."""
    words = [not any(FIGURE.match(row[k]) for row in rows) for k in range(len(heads))]
    kinds = [' class="text"' if is_words else "" for is_words in words]
    head = "".join(
        f'<th scope="col"{kind}>{escape(text)}</th>'
        for text, kind in zip(heads, kinds, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(f"<td{kind}>{escape(t)}</td>" for t, kind in zip(row, kinds, strict=True))
        + "</tr>"
        for row in rows
    )
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(title)}"><table>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def details(title: str, body: str, opened: bool = False) -> str:
    """Return what is folded under its title."""
    state = " open" if opened else ""
    return f"<details{state}><summary>{escape(title)}</summary>{body}</details>"


def page_html(page: Page, anchor: str, pictures: Mapping[str, str]) -> str:
    """Return a page as part of another.

    Args:
        page: to show.
        anchor: of its title.
        pictures: the source of each picture, by its file.
    """
    blocks = "".join(_block(block, page.title, pictures) for block in page.blocks)
    return f'<h3 id="{escape(anchor)}">{escape(page.title)}</h3>{blocks}'


def _block(block: Block, title: str, pictures: Mapping[str, str]) -> str:
    match block:
        case Heading(text):
            return f"<h4>{escape(text)}</h4>"
        case Text(text):
            return f"<p>{_styled(text)}</p>"
        case Items(items):
            return f"<ul>{''.join(f'<li>{_styled(item)}</li>' for item in items)}</ul>"
        case TextTable(heads, rows):
            shown = table(f"{title}: {heads[-1]}", heads, rows)
            return details(f"{len(rows)} rows", shown) if len(rows) > LONG else shown
        case Picture(alt, file):
            return f'<img class="sheet" alt="{escape(alt)}" src="{escape(pictures[file])}">'
        case Commands(lines):
            return commands(lines)


def _styled(text: str) -> str:
    """Return text with bold, italics and code; the star of β* is a star."""
    bold = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", prose(text))
    return re.sub(r"(?<!\w)\*(\w.*?)\*", r"<i>\1</i>", bold)

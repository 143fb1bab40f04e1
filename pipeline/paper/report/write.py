"""The page itself: templates, style, script, data and what stands still, in one file."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from pipeline.paper.collection import CollectionError
from pipeline.paper.comparison.compare import AGREES_BELOW, JUDGED, MISSING, UNJUDGED
from pipeline.paper.published import paper_labels
from pipeline.view.page import Page, Picture, read_page

FOLDER = Path(__file__).parent  # of templates, style and script
# A closing tag, a comment or an entity in the data must not end or change the script element.
UNSAFE = {ord(letter): f"\\u{ord(letter):04x}" for letter in "<>&\u2028\u2029"}
PAGES = ("trap", "erm", "rates", "coverage", "sgd")  # of the theory, in the order of the paper
MAKES = {
    name: f"python -m pipeline.theory {name} --out outputs/paper/theory/{name}" for name in PAGES
}
SWEEP = "python -m pipeline.reproduce link=linear,logistic"
FIGURE = re.compile(r"[−+–]?\d|–$")  # how the text of a figure begins; all else is words
LONG = 15  # rows, from which on a table of a page is folded


def render(data: Mapping[str, Any], theory: Path | None = None) -> str:
    """Return the page; nothing in it comes from outside.

    Args:
        data: what the script draws, of :func:`report_data`.
        theory: folder of the pages that stand still.
    """
    style, script = ((FOLDER / f"report.{kind}").read_text("utf-8") for kind in ("css", "js"))
    page = templates().get_template("index.html")
    return page.render(
        **data,
        style=style,
        script=script,
        script_hash=f"sha256-{_base64(hashlib.sha256(script.encode()).digest())}",
        json=json_text(data),
        theory=theory_html(theory),
        sweep=SWEEP,
        paper=paper_labels(),
        verdicts=(*JUDGED, UNJUDGED, MISSING),
        agrees_below=AGREES_BELOW,
    )


def templates() -> Environment:
    """Return the templates; what they show is escaped, but for what a macro or filter made."""
    found = Environment(
        loader=FileSystemLoader(FOLDER), autoescape=True, undefined=StrictUndefined,
        finalize=lambda shown: shown if isinstance(shown, Markup) else Markup(escape(str(shown))),
        trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    found.filters |= {"prose": prose, "styled": styled, "kind": lambda block: type(block).__name__}
    found.globals |= {"columns_of_words": columns_of_words, "long": LONG}
    return found


def json_text(data: Mapping[str, Any]) -> str:
    """Return JSON that may stand in a script element, whatever is in the data."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.translate(UNSAFE)


def prose(text: str) -> Markup:
    """Return text in which what stands between backticks is code."""
    parts = (escape(part) for part in text.split("`"))
    return Markup("".join(f"<code>{p}</code>" if k % 2 else p for k, p in enumerate(parts)))


def styled(text: str) -> Markup:
    """Return text with bold, italics and code; the star of β* is a star."""
    bold = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", str(prose(text)))
    return Markup(re.sub(r"(?<!\w)\*(\w.*?)\*", r"<i>\1</i>", bold))


def columns_of_words(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[bool]:
    """Tell of each column whether no text in it is a figure."""
    return [not any(FIGURE.match(row[k]) for row in rows) for k in range(len(heads))]


def theory_html(folder: Path | None) -> Markup:
    """Return the section's HTML; without a folder, how to come by it."""
    pages = {} if folder is None else {name: _page(name, folder / name) for name in PAGES}
    return Markup(templates().get_template("theory.html").render(pages=pages, makes=MAKES))


def _page(name: str, folder: Path) -> tuple[Page, dict[str, str]] | None:
    """Return a page of the theory and its pictures as sources of images; None if not there."""
    file = folder / f"{name}.json"
    if not file.is_file():
        return None
    try:
        page = read_page(file)
    except ValueError as error:
        raise CollectionError(f"{error}; `{MAKES[name]}` writes it anew") from error
    pictures = {}
    for block in page.blocks:
        if isinstance(block, Picture):
            picture = folder / block.file
            if not picture.is_file():
                raise CollectionError(f"{picture} is not there; `{MAKES[name]}` writes it")
            pictures[block.file] = f"data:image/png;base64,{_base64(picture.read_bytes())}"
    return page, pictures


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()

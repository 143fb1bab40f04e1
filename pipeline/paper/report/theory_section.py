"""The theory's pages in the report: what ``python -m pipeline.theory`` wrote, as HTML."""

from __future__ import annotations

import base64
from pathlib import Path

from pipeline.paper.collection import CollectionError
from pipeline.view.html import commands, page_html
from pipeline.view.page import Picture, read_page

PAGES = ("trap", "erm", "rates", "coverage", "sgd")  # in the order of the paper


def theory_html(folder: Path | None) -> str:
    """Return the section's HTML; a page that is not there is the command that writes it."""
    if folder is None:
        return (
            f"<p>There are no such results here. To add them:</p>{commands(map(_command, PAGES))}"
            "<p>and give the report <code>--theory outputs/paper/theory</code>.</p>"
        )
    return "".join(_html(name, folder / name) for name in PAGES)


def _html(name: str, folder: Path) -> str:
    file = folder / f"{name}.json"
    if not file.is_file():
        missing = f'<h3 id="theory-{name}">Missing: {name}</h3><p>To compute it:</p>'
        return missing + commands([_command(name)])
    try:
        page = read_page(file)
    except ValueError as error:
        raise CollectionError(f"{error}; `{_command(name)}` writes it anew") from error
    files = [block.file for block in page.blocks if isinstance(block, Picture)]
    return page_html(page, f"theory-{name}", {f: _inline(folder / f, name) for f in files})


def _inline(picture: Path, name: str) -> str:
    """Return a picture as the source of an image."""
    if not picture.is_file():
        raise CollectionError(f"{picture} is not there; `{_command(name)}` writes it")
    return f"data:image/png;base64,{base64.b64encode(picture.read_bytes()).decode()}"


def _command(name: str) -> str:
    return f"python -m pipeline.theory {name} --out outputs/paper/theory/{name}"

"""The theory's pages in the report: what ``python -m pipeline.theory`` wrote, as HTML.

That command writes each page as Markdown with one picture, for people who read files. The report
shows the same words, tables and picture, so that no figure is typed or rounded twice.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from pipeline.paper.collection import CollectionError
from pipeline.paper.report.fragments import COMMAND, details, prose, table

# Folder of a page, and the command of ``python -m pipeline.theory`` that writes it.
PAGES = {
    "trap": "trap",
    "erm": "erm",
    "rates": "rates",
    "coverage": "coverage",
    "sgd": "sgd_figures",
}
PICTURE = re.compile(r"!\[(?P<alt>[^\]]*)\]\((?P<file>[^)/]+\.png)\)")
LONG = 15  # rows, from which on a table is folded


def theory_part(folder: Path | None) -> list[dict[str, Any]] | None:
    """Return the pages in the order of the paper, None where no folder is given.

    A page that is not there is a command; a page without its picture is refused.
    """
    if folder is None:
        return None
    return [_page(folder / name, name) for name in PAGES]


def theory_html(pages: Sequence[Mapping[str, Any]] | None) -> str:
    """Return the section's HTML."""
    if pages is None:
        lines = "".join(COMMAND.format(escape(_command(name))) for name in PAGES)
        return (
            f"<p>There are no such results here. To add them:</p>{lines}"
            "<p>and give the report <code>--theory outputs/paper/theory</code>.</p>"
        )
    return "".join(_html(page) for page in pages)


def _page(folder: Path, name: str) -> dict[str, Any]:
    file = folder / f"{name}.md"
    if not file.is_file():
        return {"name": name, "command": _command(name)}
    text = file.read_text(encoding="utf-8")
    pictures = {}
    for found in PICTURE.finditer(text):
        picture = folder / found["file"]
        if not picture.is_file():
            raise CollectionError(f"{picture} is not there; `{_command(name)}` writes it")
        pictures[found["file"]] = base64.b64encode(picture.read_bytes()).decode()
    return {"name": name, "text": text, "pictures": pictures}


def _command(name: str) -> str:
    return f"python -m pipeline.theory {PAGES[name]} --out outputs/paper/theory/{name}"


def _html(page: Mapping[str, Any]) -> str:
    name = page["name"]
    if "command" in page:
        command = COMMAND.format(escape(page["command"]))
        return f'<h3 id="theory-{name}">Missing: {name}</h3><p>To compute it:</p>{command}'
    blocks = [block.strip("\n") for block in re.split(r"\n\s*\n", page["text"])]
    title = blocks[0].removeprefix("# ")
    head = f'<h3 id="theory-{name}">{escape(title)}</h3>'
    return head + "".join(_block(block, title, page["pictures"]) for block in blocks[1:] if block)


def _block(block: str, title: str, pictures: Mapping[str, str]) -> str:
    """Return the HTML of a paragraph, list, table or picture."""
    lines = block.splitlines()
    found = PICTURE.fullmatch(block)
    if found:
        source = f"data:image/png;base64,{pictures[found['file']]}"
        return f'<img class="sheet" alt="{escape(found["alt"])}" src="{source}">'
    if lines[0].startswith("|"):
        heads, _, *rows = [list(map(_plain, line.strip("| ").split(" | "))) for line in lines]
        shown = table(f"{title}: {heads[-1]}", heads, rows)
        return details(f"{len(rows)} rows", shown) if len(rows) > LONG else shown
    if lines[0].startswith("- "):
        return f"<ul>{''.join(f'<li>{_styled(line[2:])}</li>' for line in lines)}</ul>"
    return f"<p>{_styled(' '.join(lines))}</p>"


def _styled(text: str) -> str:
    """Return text with bold, italics and code; the star of β* is a star."""
    bold = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", prose(text))
    return re.sub(r"(?<!\w)\*(\w.*?)\*", r"<i>\1</i>", bold)


def _plain(cell: str) -> str:
    return cell.strip().replace("**", "").replace("`", "")

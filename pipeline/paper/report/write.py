"""The page itself: template, style, script, data and what stands still, in one file."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from pipeline.files import write_text
from pipeline.paper.collection import CollectionError
from pipeline.paper.report.content import Sources, report_data
from pipeline.paper.report.verdict import verdict_key, verdict_picture
from pipeline.view.html import commands, details, page_html, prose, table
from pipeline.view.page import Picture, read_page

TEMPLATES = Path(__file__).parent
PLACE = re.compile(r"\{\{(\w+)\}\}")
# A closing tag, a comment or an entity in the data must not end or change the script element.
UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
PAGES = ("trap", "erm", "rates", "coverage", "sgd")  # of the theory, in the order of the paper
COMMANDS = {
    name: f"python -m pipeline.theory {name} --out outputs/paper/theory/{name}" for name in PAGES
}
SWEEP = "python -m pipeline.reproduce link=linear,logistic"
HOW_TO = {  # what fills a section that has nothing to show, by the option that names its folder
    "stated": [f"{SWEEP} experiment=tables protocol=stated --out outputs/paper/stated"],
    "hindsight": [
        f"{SWEEP} experiment=fresh --out outputs/paper/fresh",
        "python -m pipeline.paper hindsight --fresh outputs/paper/fresh --collection … "
        "--out outputs/paper/hindsight",
    ],
    "theory": list(COMMANDS.values()),
}


def write_report(sources: Sources) -> Path:
    """Write ``index.html``; return it."""
    path = sources.page / "index.html"
    write_text(path, render(report_data(sources), sources.theory))
    return path


def render(data: Mapping[str, Any], theory: Path | None = None) -> str:
    """Return the page; nothing in it comes from outside.

    Args:
        data: what the script draws, of :func:`report_data`.
        theory: folder of the pages that stand still.
    """
    script = (TEMPLATES / "report.js").read_text(encoding="utf-8")
    parts = {
        "style": (TEMPLATES / "report.css").read_text(encoding="utf-8"),
        "script": script,
        "script_hash": _hash(script),
        "data": json_text(data),
        "theory": theory_html(theory),
        **fragments(data),
    }
    template = (TEMPLATES / "index.html").read_text(encoding="utf-8")
    return PLACE.sub(lambda place: parts[place[1]], template)


def json_text(data: Mapping[str, Any]) -> str:
    """Return JSON that may stand in a script element, whatever is in the data."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return re.sub("[<>&\u2028\u2029]", lambda letter: UNSAFE[letter[0]], text)


def _hash(script: str) -> str:
    """Return the digest by which the page's own policy lets this script run, and no other."""
    digest = hashlib.sha256(script.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def fragments(data: Mapping[str, Any]) -> dict[str, str]:
    """Return HTML by the name of its place in the template."""
    overview = data["overview"]
    return {
        "protocol": escape(data["protocol"]),
        "glance": "".join(map(_tile, overview["glance"])),
        "sentences": "".join(f"<li>{prose(text)}</li>" for text in overview["sentences"]),
        "verdict_key": verdict_key(data),
        "verdict": verdict_picture(data),
        "summaries": "".join(
            details(part["title"], table(**part), opened=number == 0)
            for number, part in enumerate(overview["summaries"])
        ),
        "findings": "".join(
            details(title, _findings(found)) for title, found in overview["findings"].items()
        ),
        "stated": table(**data["stated"]) if data["stated"] else _how_to("stated"),
        "hindsight": _hindsight(data),
        "environment": "".join(_environment(data)),
    }


def _tile(tile: Mapping[str, str]) -> str:
    name, value, note = (escape(tile[part]) for part in ("name", "value", "note"))
    return f"<div><span>{name}</span><b>{value}</b><small>{note}</small></div>"


def _findings(found: Iterable[Sequence[str]]) -> str:
    items = (
        f"<li>{f'<b>{escape(scope)}:</b> ' if scope else ''}{prose(text)}</li>"
        for scope, text in found
    )
    return f"<ul>{''.join(items)}</ul>"


def _hindsight(data: Mapping[str, Any]) -> str:
    """Return the means of each link, or how to come by them."""
    found = data["hindsight"]
    if not found:
        return _how_to("hindsight")
    parts = []
    for link, part in found["links"].items():
        title = f"{data['links'][link]} link"
        rows = table(f"Advantage over greedy, {link} link", found["heads"], part["rows"])
        parts.append(f"<h3>{escape(title)}</h3><p>{prose(part['summary'])}</p>{rows}")
    if found["commands"]:
        parts.append("<h3>Missing</h3><p>Splits are missing; to fill them:</p>")
        parts.append(commands(found["commands"]))
    return "".join(parts)


def _how_to(option: str) -> str:
    """Return what to run for a section that has nothing to show."""
    return (
        f"<p>There are no such results here. To add them:</p>{commands(HOW_TO[option])}"
        f"<p>and give the report <code>--{option} outputs/paper/{option}</code>.</p>"
    )


def _environment(data: Mapping[str, Any]) -> Iterable[str]:
    found = data["environment"]
    if not found["read"]:
        yield (
            "<p>The run folders are not reachable from here, so their environment is not known; "
            "<code>--outputs</code> names the folder that has them.</p>"
        )
        return
    yield f"<p>Read from {found['read']:,} of {found['runs']:,} run folders.</p>"
    for group in found["software"]:
        yield f"<h4>{group['runs']:,} runs</h4>{_list(group['versions'])}"
    hashes = {data["datasets"][name]: ", ".join(known) for name, known in found["data"].items()}
    yield f"<h4>Data: hash of the values, source</h4>{_list(hashes)}"


def _list(pairs: Mapping[str, str]) -> str:
    items = (f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in pairs.items())
    return f"<dl>{''.join(items)}</dl>"


def theory_html(folder: Path | None) -> str:
    """Return the section's HTML; a page that is not there is the command that writes it."""
    if folder is None:
        return _how_to("theory")
    return "".join(_html(name, folder / name) for name in PAGES)


def _html(name: str, folder: Path) -> str:
    file = folder / f"{name}.json"
    if not file.is_file():
        missing = f'<h3 id="theory-{name}">Missing: {name}</h3><p>To compute it:</p>'
        return missing + commands([COMMANDS[name]])
    try:
        page = read_page(file)
    except ValueError as error:
        raise CollectionError(f"{error}; `{COMMANDS[name]}` writes it anew") from error
    files = [block.file for block in page.blocks if isinstance(block, Picture)]
    return page_html(page, f"theory-{name}", {f: _inline(folder / f, name) for f in files})


def _inline(picture: Path, name: str) -> str:
    """Return a picture as the source of an image."""
    if not picture.is_file():
        raise CollectionError(f"{picture} is not there; `{COMMANDS[name]}` writes it")
    return f"data:image/png;base64,{base64.b64encode(picture.read_bytes()).decode()}"

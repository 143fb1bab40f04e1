"""The page itself: template, style, script and data in one file."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pipeline.files import write_text
from pipeline.paper.report.content import Sources, report_data
from pipeline.paper.report.fragments import fragments
from pipeline.paper.report.theory_section import theory_html

TEMPLATES = Path(__file__).parent
PLACE = re.compile(r"\{\{(\w+)\}\}")
# A closing tag, a comment or an entity in the data must not end or change the script element.
UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


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

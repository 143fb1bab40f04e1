"""The page itself: template, style, script and data in one file."""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline.paper.collection import Collection, CollectionError, merge
from pipeline.paper.report.data import Sources, report_data
from pipeline.paper.report.fragments import fragments
from pipeline.paper.report.theory import theory_html, theory_part
from pipeline.paper.report.tuning import Tuning
from pipeline.results.files import write_text

TEMPLATES = Path(__file__).parent
PLACE = re.compile(r"\{\{(\w+)\}\}")
# A closing tag, a comment or an entity in the data must not end or change the script element.
UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``python -m pipeline.paper report``."""
    parser.add_argument(
        "--stated", type=Path, nargs="+", metavar="FOLDER",
        help="collected results of Tables 1 and 2 under the other protocol",
    )  # fmt: skip
    parser.add_argument(
        "--hindsight", type=Path, metavar="FOLDER",
        help="what `python -m pipeline.paper hindsight` wrote",
    )  # fmt: skip
    parser.add_argument(
        "--theory", type=Path, metavar="FOLDER",
        help="folder of what the commands of `python -m pipeline.theory` wrote",
    )  # fmt: skip
    parser.add_argument(
        "--outputs", type=Path, default=Path("outputs"), metavar="FOLDER",
        help="folder with the run folders, for links and environments (default: outputs)",
    )  # fmt: skip


def command(collection: Collection, options: argparse.Namespace) -> Iterable[str]:
    """Write the report: one page with all tables, curves and comparisons, to open offline."""
    path = write_report(
        Sources(
            collection=collection,
            stated=_stated(options.stated),
            tuning=None if options.hindsight is None else Tuning.read(options.hindsight),
            theory=options.theory,
            outputs=options.outputs,
            page=options.out,
        ),
    )
    yield f"report:   {path} ({path.stat().st_size / 1e6:.1f} MB)"


def write_report(sources: Sources) -> Path:
    """Write ``index.html``; return it."""
    path = sources.page / "index.html"
    write_text(path, render(report_data(sources), theory_part(sources.theory)))
    return path


def render(data: Mapping[str, Any], theory: Sequence[Mapping[str, Any]] | None = None) -> str:
    """Return the page; nothing in it comes from outside.

    Args:
        data: what the script draws, of :func:`report_data`.
        theory: the pages that stand still, of :func:`theory_part`.
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


def _stated(folders: Iterable[Path] | None) -> Collection | None:
    if folders is None:
        return None
    found = merge(map(Collection.read, folders))
    if len(found.protocols) != 1:
        names = ", ".join(found.protocols) or "none"
        raise CollectionError(f"--stated: expected results of one protocol, there are: {names}")
    return found

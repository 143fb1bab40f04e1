"""The parts of the page that stand still, as HTML; the script draws the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from pipeline.paper.report.verdict_picture import verdict_key, verdict_picture
from pipeline.view.html import commands, details, prose, table


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
    sweep = "python -m pipeline.reproduce link=linear,logistic"
    lines = {
        "stated": [f"{sweep} experiment=tables protocol=stated --out outputs/paper/stated"],
        "hindsight": [
            f"{sweep} experiment=fresh --out outputs/paper/fresh",
            "python -m pipeline.paper hindsight --fresh outputs/paper/fresh --collection … "
            "--out outputs/paper/hindsight",
        ],
    }
    return (
        f"<p>There are no such results here. To add them:</p>{commands(lines[option])}"
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

"""The verdict: sentences, figures at a glance, and a picture with a box for every figure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

import pandas as pd

from pipeline.paper.comparison import agreement
from pipeline.paper.comparison.compare import (
    AGREES_BELOW,
    JUDGED,
    KEY,
    MISSING,
    STRONGLY,
    UNJUDGED,
    Comparison,
)
from pipeline.paper.comparison.page import finding_texts, headline, percent, summary_table
from pipeline.paper.published import in_text
from pipeline.view.names import or_dash, row_name
from pipeline.view.page import TextTable

CLASSES = {verdict: verdict.split()[0] for verdict in (*JUDGED, UNJUDGED, MISSING)}  # of the CSS
WIDTH, HEIGHT, GAP = 13, 20, 6  # of a box; between the blocks of two methods
LEFT, TOP, RIGHT, BOTTOM = 84, 24, 46, 20  # room for names and shares
PATTERN = (
    '<svg class="patterns" aria-hidden="true"><defs><pattern id="hatch" width="5" height="5" '
    'patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="ground" width="5" '
    'height="5"/><rect class="stripe" width="1.6" height="5"/></pattern></defs></svg>'
)


def overview_part(comparison: Comparison) -> dict[str, Any]:
    """Return what the first section shows; the cells it draws are those of the tables."""
    frames = {
        "By link": agreement.by_link(comparison),
        "By dataset": agreement.by_dataset(comparison),
        "By method (wins are the method's own)": agreement.by_method(comparison),
    }
    return {
        "sentences": list(headline(comparison)),
        "glance": _glance(comparison, frames["By link"]),
        "summaries": [_table(title, summary_table(frame)) for title, frame in frames.items()],
        "shares": dict(share for frame in frames.values() for share in _shares(frame)),
        "findings": {
            "Not explained": finding_texts(comparison, "unexplained"),
            "Cautions": finding_texts(comparison, "caution"),
        },
    }


def stated_part(comparisons: Mapping[str, Comparison]) -> dict[str, Any] | None:
    """Return how Tables 1 and 2 agree under each of two protocols, None where there is one."""
    if len(comparisons) == 1:
        return None
    frames = [
        agreement.by_link(_in_text(comparison)).assign(protocol=protocol)
        for protocol, comparison in comparisons.items()
    ]
    return _table("Tables 1 and 2 under both protocols", summary_table(pd.concat(frames)))


def _glance(comparison: Comparison, links: pd.DataFrame) -> list[dict[str, str]]:
    """Return the figures at a glance: a name, the figure, and what to hold against it."""
    total = agreement.pool(comparison)
    low, high = agreement.share_interval(comparison)
    interval = f"95% interval {percent(low)} to {percent(high)}"
    by_chance = f"{percent(agreement.share_by_chance(comparison))} expected by chance of the splits"
    ratios = [
        (f"paper / here, {link}", or_dash(ratio, "{:.3f}"), "geometric mean of the ratios")
        for link, ratio in zip(links["link"], links["ratio"], strict=True)
        if link != agreement.BOTH
    ]
    won, won_paper = f"{total['wins']} of {total['rows']}", f"{total['wins_paper']} in the paper"
    tiles = [
        ("figures that agree", percent(total["share_agrees"]), f"{interval}; {by_chance}"),
        *ratios,
        ("rows that ours wins", won, won_paper),
    ]
    return [dict(zip(("name", "value", "note"), tile, strict=True)) for tile in tiles]


def _table(title: str, table: TextTable) -> dict[str, Any]:
    return {"title": title, "heads": table.heads, "rows": table.rows}


def _shares(frame: pd.DataFrame) -> Iterator[tuple[str, str]]:
    """Yield the share that agrees, by the labels of a line."""
    labels = [name for name in ("link", "dataset", "method") if name in frame]
    for line in frame.to_dict("records"):
        yield "/".join(line[name] for name in labels), percent(line["share_agrees"])


def _in_text(comparison: Comparison) -> Comparison:
    """Return the part that Tables 1 and 2 have."""
    wanted = pd.DataFrame(in_text(), columns=KEY)
    return Comparison(comparison.cells.merge(wanted), comparison.rows.merge(wanted))


def verdict_key(data: Mapping[str, Any]) -> str:
    """Return what the colours mean, with the number of figures of each."""
    counts = Counter(cell["verdict"] for cell in data["cells"][data["protocol"]].values())
    return "".join(
        f'<li><svg viewBox="0 0 16 16" aria-hidden="true"><rect width="16" height="16" '
        f'class="{name}"/></svg>{verdict}: {counts[verdict]:,}</li>'
        for verdict, name in CLASSES.items()
        if counts[verdict]
    )


def verdict_picture(data: Mapping[str, Any]) -> str:
    """Return a picture for each link: a row a dataset, a block a method, a column a cutoff."""
    keys = [key.split("/") for key in data["cells"][data["protocol"]]]
    parts = [PATTERN]
    for link in dict.fromkeys(key[0] for key in keys):
        datasets = list(dict.fromkeys(key[1] for key in keys if key[0] == link))
        cutoffs = list(dict.fromkeys(key[2] for key in keys if key[0] == link))
        share = data["overview"]["shares"][link]
        parts += [
            f"<h4>{escape(data['links'][link])} link: {share} agree</h4>",
            f'<div class="scroll" tabindex="0" role="region" aria-label="Verdicts, {link} link">',
            "".join(_link(data, link, datasets, cutoffs)),
            "</div>",
        ]
    return "".join(parts)


def _link(
    data: Mapping[str, Any], link: str, datasets: Sequence[str], cutoffs: Sequence[str]
) -> Iterator[str]:
    methods, shares = data["paper_methods"], data["overview"]["shares"]
    block = len(cutoffs) * WIDTH + GAP
    width = LEFT + len(methods) * block + RIGHT
    end = TOP + len(datasets) * HEIGHT
    yield (
        f'<svg viewBox="0 0 {width} {end + BOTTOM}" role="group" '
        f'aria-label="Verdicts, {link} link; arrow keys move">'
    )
    for number, method in enumerate(methods):
        left = LEFT + number * block
        name = escape(data["methods"][method]["name"])
        yield f'<text x="{left}" y="15">{name} {shares[f"{link}/{method}"]}</text>'
        for column, cutoff in list(enumerate(cutoffs))[::2]:
            text = data["cutoffs"][cutoff].rstrip("%")
            x = left + (column + 0.5) * WIDTH
            yield f'<text class="soft mark" x="{x:g}" y="{end + 14}">{text}</text>'
    for row, dataset in enumerate(datasets):
        y = TOP + row * HEIGHT
        name, share = escape(data["datasets"][dataset]), shares[f"{link}/{dataset}"]
        yield f'<text x="{LEFT - 8}" y="{y + 14}" text-anchor="end">{name}</text>'
        yield f'<text class="soft" x="{width - RIGHT}" y="{y + 14}">{share}</text><g>'
        for number, method in enumerate(methods):
            for column, cutoff in enumerate(cutoffs):
                x = LEFT + number * block + column * WIDTH
                yield _box(data, (link, dataset, cutoff, method), x, y)
        yield "</g>"
    yield "</svg>"


def _box(data: Mapping[str, Any], labels: tuple[str, str, str, str], x: int, y: int) -> str:
    """Return the box of a figure, with a sign where the paper lies on one side of ours."""
    key = "/".join(labels)
    cell = data["cells"][data["protocol"]][key]
    name = f"{row_name(*labels[:3])}, {data['methods'][labels[3]]['name']}"
    box = (
        f'<rect class="box {CLASSES[cell["verdict"]]}" x="{x}" y="{y}" width="{WIDTH}" '
        f'height="{HEIGHT}" role="img" tabindex="-1" data-cell="{escape(key)}" '
        f'aria-label="{escape(f"{name}: {_figures(cell)}")}"/>'
    )
    if cell["z"] is None or abs(cell["z"]["n"]) < AGREES_BELOW:
        return box
    kind = "mark strong" if cell["verdict"] == STRONGLY else "mark"
    sign = "+" if cell["z"]["n"] > 0 else "−"
    return f'{box}<text class="{kind}" x="{x + WIDTH / 2:g}" y="{y + 14}">{sign}</text>'


def _figures(cell: Mapping[str, Any]) -> str:
    """Return ours, the paper's, z and the verdict in words."""
    if cell["ours"] is None:
        return f"{cell['state']}; paper {cell['paper']['t']}"
    ours = f"{cell['ours']['t']} {cell['ours']['e']}".strip()
    z = "–" if cell["z"] is None else cell["z"]["t"]
    return f"ours {ours}, paper {cell['paper']['t']}, z {z}: {cell['verdict']}"

"""The verdict: sentences, figures at a glance, and summaries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from pipeline.paper.comparison import agreement
from pipeline.paper.comparison.compare import KEY, Comparison
from pipeline.paper.comparison.page import finding_texts, headline, percent, summary_table
from pipeline.paper.published import in_text
from pipeline.view.names import or_dash
from pipeline.view.page import TextTable


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

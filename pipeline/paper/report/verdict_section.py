"""The verdict: sentences, figures at a glance, summaries and what is known beside the figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from pipeline.paper.by_setting import in_text
from pipeline.paper.pages.comparison import (
    finding_texts,
    headline,
    percent,
    summary_table,
)
from pipeline.paper.statistics import agreement
from pipeline.paper.statistics.compare import KEY, Comparison
from pipeline.view.names import or_dash


def overview_part(comparison: Comparison) -> dict[str, Any]:
    """Return what the first section shows; the cells it draws are those of the tables."""
    links, datasets = agreement.by_link(comparison), agreement.by_dataset(comparison)
    methods = agreement.by_method(comparison)
    return {
        "sentences": list(headline(comparison)),
        "glance": _glance(comparison, links),
        "summaries": [
            _summary("By link", links),
            _summary("By dataset", datasets),
            _summary("By method (wins are the method's own)", methods),
        ],
        "shares": {
            **_shares(links, "link"),
            **_shares(datasets, "link", "dataset"),
            **_shares(methods, "link", "method"),
        },
        "findings": {
            "Not explained": finding_texts(comparison, "unexplained"),
            "Cautions": finding_texts(comparison, "caution"),
        },
    }


def stated_part(comparisons: Mapping[str, Comparison]) -> dict[str, Any] | None:
    """Return how Tables 1 and 2 agree under each of two protocols, None where there is one."""
    if len(comparisons) == 1:
        return None
    heads: list[str] = []
    rows: list[list[str]] = []
    for protocol, comparison in comparisons.items():
        table = summary_table(agreement.by_link(_in_text(comparison)))
        heads, rows = ["protocol", *table.heads], rows + [[protocol, *line] for line in table.rows]
    return {
        "title": "Tables 1 and 2 under both protocols",
        "heads": heads,
        "rows": rows,
    }


def _glance(comparison: Comparison, links: pd.DataFrame) -> list[dict[str, str]]:
    """Return the figures at a glance: a name, the figure, and what to hold against it."""
    total = agreement.pool(comparison)
    low, high = agreement.share_interval(comparison)
    tiles = [
        {
            "name": "figures that agree",
            "value": percent(total["share_agrees"]),
            "note": f"95% interval {percent(low)} to {percent(high)}; "
            f"{percent(agreement.share_by_chance(comparison))} expected by chance of the splits",
        }
    ]
    tiles += [
        {
            "name": f"paper / here, {line['link']}",
            "value": or_dash(line["ratio"], "{:.3f}"),
            "note": "geometric mean of the ratios",
        }
        for line in links[links["link"] != agreement.BOTH].to_dict("records")
    ]
    wins = {
        "name": "rows that ours wins",
        "value": f"{total['wins']} of {total['rows']}",
        "note": f"{total['wins_paper']} in the paper",
    }
    return [*tiles, wins]


def _summary(title: str, frame: pd.DataFrame) -> dict[str, Any]:
    table = summary_table(frame)
    return {"title": title, "heads": table.heads, "rows": table.rows}


def _shares(frame: pd.DataFrame, *labels: str) -> dict[str, str]:
    """Return the share that agrees, by the labels of a line."""
    lines = frame.to_dict("records")
    return {"/".join(line[n] for n in labels): percent(line["share_agrees"]) for line in lines}


def _in_text(comparison: Comparison) -> Comparison:
    """Return the part that Tables 1 and 2 have."""
    wanted = pd.DataFrame(in_text(), columns=KEY)
    return Comparison(comparison.cells.merge(wanted), comparison.rows.merge(wanted))

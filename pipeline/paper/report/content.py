"""All that the report's page shows, in one structure that JSON can hold.

Texts are made here, with the same functions as tables and figures; the page formats no figure of
a table. The same sources give the same structure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from pipeline.paper.collection import Collection, CollectionError
from pipeline.paper.comparison import agreement
from pipeline.paper.comparison.compare import KEY, Comparison, compare
from pipeline.paper.comparison.page import finding_texts, headline, percent, summary_table
from pipeline.paper.hindsight.page import hindsight_part
from pipeline.paper.published import DIGITS, LINKS, METHODS, in_text, published
from pipeline.paper.report.sections import (
    cells_part,
    environment_part,
    runs_part,
    series_part,
    tables_part,
)
from pipeline.view.names import cutoff_name, dataset_name, method_name, or_dash
from pipeline.view.page import TextTable
from pipeline.view.style import look

IN_TEXT = ("table1", "table2")


def report_data(
    collection: Collection,
    stated: Collection | None,
    hindsight: Path | None,
    outputs: Path,
    page: Path,
) -> dict[str, Any]:
    """Return the structure the page is drawn from.

    Args:
        collection: results of one protocol.
        stated: results of Tables 1 and 2 under another, if there are any.
        hindsight: folder of what ``python -m pipeline.paper hindsight`` wrote, if it did.
        outputs: folder that the run folders are in, whether it is there or not.
        page: folder that the page will be in.
    """
    (protocol,) = collection.protocols
    comparisons = {protocol: compare(collection)}
    tables = tables_part(collection)
    cells = {protocol: cells_part(collection, comparisons[protocol])}
    if stated is not None:
        (other,) = stated.protocols
        if other == protocol:
            raise CollectionError(f"--stated: its protocol is {other}, as that of --collection")
        comparisons[other] = compare(stated)
        tables += tables_part(stated, IN_TEXT)
        cells[other] = cells_part(stated, comparisons[other], IN_TEXT)
    return {
        "protocol": protocol,
        "digits": DIGITS,
        **_names(collection.cells),
        "overview": overview_part(comparisons[protocol]),
        "tables": tables,
        "cells": cells,
        "series": series_part(collection),
        "hindsight": hindsight_part(hindsight, protocol),
        "stated": stated_part(comparisons),
        "runs": runs_part(collection, outputs, page),
        "environment": environment_part(collection, outputs),
    }


def _names(cells: pd.DataFrame) -> dict[str, Any]:
    """Return how links, datasets, cutoffs and methods are called; the paper's come first."""
    rows = published()
    datasets = _ordered((row.key.dataset for row in rows), cells["dataset"])
    cutoffs = _ordered((row.key.cutoff for row in rows), cells["cutoff"])
    links = _ordered(LINKS, cells["link"])
    return {
        "links": {link: LINKS.get(link, link.capitalize()) for link in links},
        "datasets": {dataset: dataset_name(dataset) for dataset in datasets},
        "cutoffs": {cutoff: cutoff_name(cutoff) for cutoff in cutoffs},
        "methods": {method: _look(method) for method in _ordered(METHODS, cells["method"])},
        "paper_methods": list(METHODS),
    }


def _ordered(paper: Iterable[str], found: Iterable[str]) -> list[str]:
    known = list(dict.fromkeys(paper))
    return [*known, *sorted(set(found) - set(known))]


def _look(method: str) -> Mapping[str, Any]:
    shown = look(method)
    return {
        "name": method_name(method),
        "label": shown.label,
        "colour": shown.colour,
        "dash": [round(part * shown.width, 2) for part in shown.dash],  # in points, as matplotlib
        "width": shown.width,
    }


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

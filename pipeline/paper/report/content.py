"""All that the report's page shows, in one structure that JSON can hold.

Texts are made here, with the same functions as tables and figures; the page formats no figure of
a table. The same sources give the same structure.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from pipeline.paper.collection import Collection, CollectionError
from pipeline.paper.comparison import agreement
from pipeline.paper.comparison.compare import Comparison, compare
from pipeline.paper.comparison.page import finding_texts, headline, percent, summary_table
from pipeline.paper.hindsight.page import hindsight_part
from pipeline.paper.published import CELL_KEY, DIGITS, KEY, LINKS, METHODS, in_text, paper_labels
from pipeline.paper.report import sections
from pipeline.paper.tables import make_tables
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
    protocol = collection.protocol
    sources, tables = {protocol: collection}, {protocol: make_tables(collection)}
    if stated is not None:
        if stated.protocol == protocol:
            raise CollectionError(f"--stated: its protocol is {protocol}, as that of --collection")
        sources[stated.protocol] = stated
        tables[stated.protocol] = make_tables(stated, IN_TEXT)
    comparisons = {name: compare(source) for name, source in sources.items()}
    return {
        "protocol": protocol,
        "digits": DIGITS,
        **_names(collection.cells),
        "overview": overview_part(comparisons[protocol]),
        "tables": [
            sections.table_part(table, name) for name, made in tables.items() for table in made
        ],
        "cells": {
            name: sections.cells_part(source, comparisons[name], tables[name])
            for name, source in sources.items()
        },
        "series": sections.series_part(collection),
        "hindsight": hindsight_part(hindsight, protocol),
        "stated": stated_part(comparisons),
        "runs": sections.runs_part(collection, outputs, page),
        "environment": sections.environment_part(collection, outputs),
    }


def _names(cells: pd.DataFrame) -> dict[str, Any]:
    """Return how links, datasets, cutoffs and methods are called; the paper's come first."""
    ordered = {
        label: [*known, *sorted(set(cells[label]) - set(known))]
        for label, known in {**paper_labels(), "method": METHODS}.items()
    }
    return {
        "links": {link: LINKS.get(link, link.capitalize()) for link in ordered["link"]},
        "datasets": {dataset: dataset_name(dataset) for dataset in ordered["dataset"]},
        "cutoffs": {cutoff: cutoff_name(cutoff) for cutoff in ordered["cutoff"]},
        "methods": {
            method: {
                "name": method_name(method),
                "label": look(method).label,
                "colour": look(method).colour,
                # In points, as matplotlib.
                "dash": [round(part * look(method).width, 2) for part in look(method).dash],
                "width": look(method).width,
            }
            for method in ordered["method"]
        },
        "paper_methods": list(METHODS),
    }


def overview_part(comparison: Comparison) -> dict[str, Any]:
    """Return what the first section shows; the cells it draws are those of the tables."""
    frames = {
        "By link": agreement.summaries(comparison),
        "By dataset": agreement.summaries(comparison, "dataset"),
        "By method (wins are the method's own)": agreement.summaries(comparison, "method"),
    }
    shares = {}
    for line in (line for frame in frames.values() for line in frame.to_dict("records")):
        name = "/".join(line[label] for label in CELL_KEY if label in line)
        shares[name] = percent(line["share_agrees"])
    return {
        "sentences": list(headline(comparison)),
        "glance": _glance(comparison, frames["By link"]),
        "summaries": [_table(title, summary_table(frame)) for title, frame in frames.items()],
        "shares": shares,
        "findings": {
            "Not explained": finding_texts(comparison, "unexplained"),
            "Cautions": finding_texts(comparison, "caution"),
        },
    }


def stated_part(comparisons: Mapping[str, Comparison]) -> dict[str, Any] | None:
    """Return how Tables 1 and 2 agree under each of two protocols, None where there is one."""
    if len(comparisons) == 1:
        return None
    rows = pd.DataFrame(in_text(), columns=KEY)
    frames = []
    for protocol, whole in comparisons.items():
        found = agreement.summaries(Comparison(*(part.merge(rows) for part in whole)))
        frames.append(found.assign(protocol=protocol))
    return _table("Tables 1 and 2 under both protocols", summary_table(pd.concat(frames)))


def _glance(comparison: Comparison, links: pd.DataFrame) -> list[dict[str, str]]:
    """Return the figures at a glance: a name, the figure, and what to hold against it."""
    total = agreement.pool(comparison)
    low, high = agreement.share_interval(comparison)
    interval = f"95% interval {percent(low)} to {percent(high)}"
    by_chance = f"{percent(agreement.share_by_chance(comparison))} expected by chance of the splits"
    tiles = {"figures that agree": (percent(total["share_agrees"]), f"{interval}; {by_chance}")}
    for link, ratio in zip(links["link"], links["ratio"], strict=True):
        if link != agreement.BOTH:
            shown = or_dash(ratio, "{:.3f}")
            tiles[f"paper / here, {link}"] = (shown, "geometric mean of the ratios")
    won = f"{total['wins']} of {total['rows']}"
    tiles["rows that ours wins"] = (won, f"{total['wins_paper']} in the paper")
    return [{"name": name, "value": value, "note": note} for name, (value, note) in tiles.items()]


def _table(title: str, table: TextTable) -> dict[str, Any]:
    return {"title": title, "heads": table.heads, "rows": table.rows}

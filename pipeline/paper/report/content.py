"""All that the report's page shows, in one structure that JSON can hold.

Texts are made here, with the same functions as tables and figures; the page formats no figure of
a table. The same sources give the same structure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from pipeline.paper.collection import Collection, CollectionError
from pipeline.paper.comparison.compare import compare
from pipeline.paper.hindsight.page import hindsight_part
from pipeline.paper.published import DIGITS, LINKS, METHODS, published
from pipeline.paper.report.sections import (
    cells_part,
    environment_part,
    runs_part,
    series_part,
    tables_part,
)
from pipeline.paper.report.verdict import overview_part, stated_part
from pipeline.view.names import cutoff_name, dataset_name, method_name
from pipeline.view.style import look

IN_TEXT = ("table1", "table2")


@dataclass(frozen=True)
class Sources:
    """What a report is made of.

    Attributes:
        collection: results of one protocol.
        stated: results of Tables 1 and 2 under another, if there are any.
        hindsight: folder of what ``python -m pipeline.paper hindsight`` wrote, if it did.
        theory: folder of the theory's pages, if there are any.
        outputs: folder that the run folders are in, whether it is there or not.
        page: folder that the page will be in.
    """

    collection: Collection
    stated: Collection | None
    hindsight: Path | None
    theory: Path | None
    outputs: Path
    page: Path


def report_data(sources: Sources) -> dict[str, Any]:
    """Return the structure the page is drawn from."""
    (protocol,) = sources.collection.protocols
    comparisons = {protocol: compare(sources.collection)}
    tables = tables_part(sources.collection)
    cells = {protocol: cells_part(sources.collection, comparisons[protocol])}
    if sources.stated is not None:
        (other,) = sources.stated.protocols
        if other == protocol:
            raise CollectionError(f"--stated: its protocol is {other}, as that of --collection")
        comparisons[other] = compare(sources.stated)
        tables += tables_part(sources.stated, IN_TEXT)
        cells[other] = cells_part(sources.stated, comparisons[other], IN_TEXT)
    return {
        "protocol": protocol,
        "digits": DIGITS,
        **_names(sources.collection.cells),
        "overview": overview_part(comparisons[protocol]),
        "tables": tables,
        "cells": cells,
        "series": series_part(sources.collection),
        "hindsight": hindsight_part(sources.hindsight, protocol),
        "stated": stated_part(comparisons),
        "runs": runs_part(sources.collection, sources.outputs, sources.page),
        "environment": environment_part(sources.collection, sources.outputs),
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

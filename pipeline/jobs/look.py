"""Look for the run folders of many cells, loading a dataset at most once."""

from __future__ import annotations

import json
import traceback
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.jobs.cell import Cell
from pipeline.jobs.explain import explain
from pipeline.jobs.identity import folder_of, identity_of
from pipeline.jobs.runner import Places
from pipeline.results.runs import RunFolder


@dataclass(frozen=True)
class Found:
    """Where the results of a cell are, or would be.

    Attributes:
        folder: None where it cannot be told.
        reason: why it cannot.
        trace: the traceback of that.
    """

    folder: RunFolder | None
    reason: str | None = None
    trace: str | None = None


def dataset_key(cell: Cell) -> str:
    """Return what is the same for cells of the same data."""
    parts = [dict(cell.dataset), cell.protocol, None if cell.table is None else id(cell.table)]
    return json.dumps(parts, sort_keys=True, default=str)


def look_for(cells: Sequence[Cell], places: Places) -> list[Found]:
    """Return where each cell's results are; data that cannot be loaded are a reason, no error."""
    keys = [dataset_key(cell) for cell in cells]
    found: dict[int, Found] = {}
    bad: dict[str, Found] = {}
    # By dataset: one that has to be loaded to be known is kept only until the next one comes.
    for number in sorted(range(len(cells)), key=keys.__getitem__):
        key = keys[number]
        found[number] = bad[key] if key in bad else _look(cells[number], places)
        if found[number].folder is None:
            bad[key] = found[number]
    return [found[number] for number in range(len(cells))]


def _look(cell: Cell, places: Places) -> Found:
    try:
        return Found(folder_of(cell, identity_of(cell, places.data), places.outputs))
    except Exception as error:  # whatever it is, the other cells can be told
        return Found(None, explain(error), traceback.format_exc())

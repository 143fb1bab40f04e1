"""Divide cells into parts: big enough to share data, small enough to keep all workers busy."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pipeline.cells.cell import Cell
from pipeline.cells.runner import dataset_key

PARTS_A_WORKER = 4  # so that the last parts end at about the same time
MOST_CELLS = 10  # of a part: what a worker that dies can lose
UNKNOWN_ROWS = 1000


def divide(cells: Mapping[int, Cell], workers: int, most: int = MOST_CELLS) -> list[list[int]]:
    """Return the numbers of the cells of each part, those of the heaviest block first.

    The cells of a part are of one block: they share data, truth and splits. Cells of one method
    stay together, as the engine runs their lanes together.

    Args:
        cells: by number.
        workers: that will compute at the same time.
        most: cells of a part.
    """
    weights = {number: _weight(cell) for number, cell in cells.items()}
    limit = sum(weights.values()) / (workers * PARTS_A_WORKER)
    blocks: dict[str, list[int]] = {}
    for number in sorted(cells, key=lambda number: cells[number].method.name):
        blocks.setdefault(_block(cells[number]), []).append(number)
    heaviest_first = sorted(blocks.values(), key=lambda block: -sum(weights[n] for n in block))
    return [part for block in heaviest_first for part in _cut(block, weights, limit, most)]


def _cut(
    block: Sequence[int], weights: Mapping[int, float], limit: float, most: int
) -> list[list[int]]:
    parts: list[list[int]] = []
    weight = 0.0
    for number in block:
        weight += weights[number]
        if not parts or weight > limit or len(parts[-1]) == most:
            parts.append([])
            weight = weights[number]
        parts[-1].append(number)
    return parts


def _block(cell: Cell) -> str:
    """Return what is the same for cells that one call of the engine can compute."""
    shared = [cell.link, vars(cell.setting), cell.splits, cell.seed, cell.curve_points]
    return dataset_key(cell) + json.dumps(shared, sort_keys=True, default=str)


def _weight(cell: Cell) -> float:
    """Return about how much work a cell is: lanes times rows."""
    return len(cell.alphas) * len(cell.splits) * _rows(cell)


def _rows(cell: Cell) -> int:
    if cell.table is not None:
        return len(cell.table.y)
    recipe: Mapping[str, Any] = cell.dataset.get("protocols", {}).get(cell.protocol, {})
    rows = cell.dataset.get("n") or recipe.get("expect", {}).get("rows")
    return int(rows) if isinstance(rows, int) else UNKNOWN_ROWS

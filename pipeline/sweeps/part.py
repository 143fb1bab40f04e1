"""Parts of a sweep: cells that share their data, divided among workers and on their way to them.

A part is a file in the sweep's folder. Whatever starts workers, joblib, Ray or Slurm, hands them
its name and nothing else.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from pipeline.cells.cell import Cell
from pipeline.cells.errors import ConfigError
from pipeline.cells.own_method import find_method
from pipeline.cells.runner import Places, dataset_key
from pipeline.core.methods import get_method
from pipeline.data.dataset import Dataset
from pipeline.files import replacing

PARTS_A_WORKER = 4  # so that the last parts end at about the same time
MOST_CELLS = 25  # of a part: what a worker that dies can lose
UNKNOWN_ROWS = 1000


@dataclass(frozen=True)
class Parcel:
    """A cell without what cannot travel, or not often.

    Attributes:
        cell: with another method and without its table.
        labels: those of the cell itself.
        method: name and parameters: a method's own file is imported where it arrives.
        table: the file that holds the table.
    """

    cell: Cell
    labels: dict[str, str]
    method: dict[str, Any]
    table: Path | None

    def unpack(self) -> Cell:
        """Return the cell."""
        file = self.cell.method_file
        method, _ = find_method(self.method, () if file is None else [file.parents[1]])
        table = None if self.table is None else _read_table(self.table)
        return replace(self.cell, method=method, table=table)


@dataclass(frozen=True)
class Part:
    """What a worker is given.

    Attributes:
        parcels: the cells, by their number in the sweep.
        places: where data come from and results go to.
        force: compute also what is there already.
        threads: lanes that run at the same time.
        journal: folder in which a worker writes down what becomes of each cell.
        cwd: folder the command was given in: paths may be relative.
        parent: process that waits for the part.
    """

    parcels: Mapping[int, Parcel]
    places: Places
    force: bool
    threads: int
    journal: Path
    cwd: Path
    parent: int

    def save(self, file: Path) -> None:
        """Write the part to a file."""
        with replacing(file) as partial:
            partial.write_bytes(pickle.dumps(self, protocol=pickle.HIGHEST_PROTOCOL))


def read_part(file: Path) -> Part:
    """Return the part of a file that :meth:`Part.save` wrote."""
    try:
        part = pickle.loads(file.read_bytes())
    except FileNotFoundError as error:
        raise _not_shared(file) from error
    assert isinstance(part, Part)
    if not part.cwd.is_dir():
        raise _not_shared(part.cwd)
    return part


def pack(cells: Mapping[int, Cell], folder: Path) -> dict[int, Parcel]:
    """Return cells as parcels; each table among them is written once into the folder."""
    parcels, written = {}, dict[int, Path]()
    for number, cell in cells.items():
        table = cell.table
        if table is not None and id(table) not in written:
            written[id(table)] = folder / f"table_{len(written)}.pickle"
            with written[id(table)].open("wb") as file:
                pickle.dump(table, file, protocol=pickle.HIGHEST_PROTOCOL)
        bare = replace(cell, method=get_method("greedy"), table=None)
        method = {"name": cell.method.name, **vars(cell.method)}
        parcels[number] = Parcel(bare, cell.labels, method, written.get(id(table)))
    return parcels


@lru_cache(maxsize=1)
def _read_table(file: Path) -> Dataset:
    with file.open("rb") as opened:
        table = pickle.load(opened)
    assert isinstance(table, Dataset)
    return table


def _not_shared(place: Path) -> ConfigError:
    return ConfigError(
        f"a worker does not find {place}: all machines must share the folder of the sweep and the "
        "one the command was given in, see docs/cluster.md"
    )


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
    recipe: Mapping[str, Any] = cell.dataset.get("protocols", {}).get(cell.protocol, {})
    rows = cell.dataset.get("n") or recipe.get("expect", {}).get("rows")
    if cell.table is not None:
        rows = len(cell.table.y)
    lanes = len(cell.alphas) * len(cell.splits)
    return lanes * (rows if isinstance(rows, int) else UNKNOWN_ROWS)

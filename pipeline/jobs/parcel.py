"""Cells on their way to another process."""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from pipeline.core.methods import get_method
from pipeline.data.dataset import Dataset
from pipeline.jobs.cell import Cell
from pipeline.jobs.methods import find_method


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


def pack(cells: Iterable[Cell], folder: Path) -> list[Parcel]:
    """Return cells as parcels; each table among them is written once into the folder."""
    written: dict[int, Path] = {}
    return [_pack(cell, folder, written) for cell in cells]


def _pack(cell: Cell, folder: Path, written: dict[int, Path]) -> Parcel:
    method = {"name": cell.method.name, **vars(cell.method)}
    table = cell.table
    if table is not None and id(table) not in written:
        written[id(table)] = folder / f"table_{len(written)}.pickle"
        with written[id(table)].open("wb") as file:
            pickle.dump(table, file, protocol=pickle.HIGHEST_PROTOCOL)
    bare = replace(cell, method=get_method("greedy"), table=None)
    return Parcel(bare, cell.labels, method, None if table is None else written[id(table)])


@lru_cache(maxsize=1)
def _read_table(file: Path) -> Dataset:
    with file.open("rb") as opened:
        table = pickle.load(opened)
    assert isinstance(table, Dataset)
    return table

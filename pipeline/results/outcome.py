"""What one run found: arrays and a summary, as files with a schema."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from pipeline.files import read_json, replacing, write_json

Columns = dict[str, NDArray[Any]]

COUNTS = ("rows", "above", "accepted", "missed", "wasted")
SCHEMAS = {
    "losses": ("alpha", "split", "loss", *COUNTS),
    "curves": ("split", "round", "loss"),
    "groups": ("alpha", "split", "group", "loss", *COUNTS),
}
SUMMARY = "summary.json"
# What tables show of it.
FIGURES = (
    "alpha", "loss", "standard_error", "accepted_rate", "missed_rate", "cutoff_value", "n_rounds",
    "n_splits",
)  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    """The results of one cell.

    Attributes:
        losses: a line for each alpha and split: R_T and the counts over the stream.
        curves: R_t of the tuned alpha at some rounds, a line for each split and round.
        groups: as losses, for each group; None where no group is named.
        summary: tuned alpha, mean loss, its standard error and what else is one figure.
    """

    losses: Columns
    curves: Columns
    groups: Columns | None
    summary: dict[str, Any]


def write_outcome(outcome: Outcome, folder: Path) -> None:
    """Write one file for each part."""
    for name, schema in SCHEMAS.items():
        columns = getattr(outcome, name)
        if columns is not None:
            _write_table(folder / f"{name}.parquet", columns, schema)
    write_json(folder / SUMMARY, outcome.summary)


def read_outcome(folder: Path) -> Outcome:
    """Read what :func:`write_outcome` wrote."""
    parts = {name: _read_table(folder / f"{name}.parquet", SCHEMAS[name]) for name in SCHEMAS}
    summary = read_json(folder / SUMMARY)
    losses, curves = parts["losses"], parts["curves"]
    if losses is None or curves is None or summary is None:
        raise FileNotFoundError(f"{folder}: a finished run lacks one of its files")
    return Outcome(losses, curves, parts["groups"], summary)


def _write_table(path: Path, columns: Columns, schema: tuple[str, ...]) -> None:
    if tuple(columns) != schema:
        raise ValueError(f"{path.name}: expected columns {schema}, got {tuple(columns)}")
    table = pa.table({name: pa.array(values) for name, values in columns.items()})
    with replacing(path) as partial:
        pq.write_table(table, partial, compression="zstd")


def _read_table(path: Path, schema: tuple[str, ...]) -> Columns | None:
    if not path.exists():
        return None
    table = pq.read_table(path)
    if tuple(table.column_names) != schema:
        raise ValueError(f"{path}: expected columns {schema}, found {tuple(table.column_names)}")
    return {name: np.asarray(table.column(name)) for name in schema}

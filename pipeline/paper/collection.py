"""The results of a sweep in three small tables; everything in the paper is derived from them.

``cells.csv`` has a line for each cell, missing ones too; ``losses.parquet`` R_T of every alpha and
split; ``curves.parquet`` R_t/t of the tuned alpha, its mean and standard error over splits. What
is missing has a command that fills it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.files import replacing, write_csv
from pipeline.results.average import average_loss
from pipeline.results.frame import FIGURE_TYPES, collect
from pipeline.results.journal import Run
from pipeline.results.outcome import Columns
from pipeline.results.runs import PARTS

LABELS = list(PARTS)
STATES = ("done", "failed", "missing")
CELL_TYPES = {**dict.fromkeys((*LABELS, "state", "reason", "folder"), "str"), **FIGURE_TYPES}
LOSS_TYPES = {**dict.fromkeys(LABELS, "str"), "alpha": "float64", "split": "int64"}
LOSS_TYPES["loss"] = "float64"
CURVE_TYPES = {**dict.fromkeys(LABELS, "str"), "round": "int64"}
CURVE_TYPES |= {"mean": "float64", "standard_error": "float64"}
CELLS, LOSSES, CURVES = "cells.csv", "losses.parquet", "curves.parquet"
FILES = {CELLS: CELL_TYPES, LOSSES: LOSS_TYPES, CURVES: CURVE_TYPES}
SORTED_BY = (*LABELS, "alpha", "split", "round")
COMMAND = "python -m pipeline.run -m experiment=paper"  # that fills a gap
CURVE_POINTS = 200  # more than a printed panel can show


class CollectionError(ValueError):
    """The collected results are not what they should be."""


class Collection(NamedTuple):
    """The results of a sweep, each table sorted by its labels.

    Attributes:
        cells: a row for each cell: its labels, state and figures; figures are NaN where it is not
            done.
        losses: R_T, a row for each done cell, alpha and split.
        curves: R_t/t under the tuned alpha: mean and standard error over splits, a row for each
            done cell and some rounds.
    """

    cells: pd.DataFrame
    losses: pd.DataFrame
    curves: pd.DataFrame

    @property
    def protocols(self) -> list[str]:
        """Return the protocols there are results of."""
        return sorted(set(self.cells["protocol"]))

    @property
    def protocol(self) -> str:
        """Return the only protocol there are results of."""
        (protocol,) = self.protocols
        return protocol

    def of(self, protocol: str) -> Collection:
        """Return the part that belongs to one protocol."""
        return Collection(*(part[part["protocol"] == protocol] for part in self))

    def write(self, folder: Path) -> None:
        """Write the three files; the same results give the same bytes."""
        write_csv(folder / CELLS, self.cells, digits=None)
        _write_parquet(self.losses, folder / LOSSES)
        _write_parquet(self.curves, folder / CURVES)

    @classmethod
    def read(cls, folder: Path) -> Collection:
        """Read what :meth:`write` wrote; refuse anything else."""
        found = cls(*(_read(folder / name, types) for name, types in FILES.items()))
        return _checked(found, str(folder))


def gather(runs: Sequence[Run], outputs: Path) -> Collection:
    """Gather the results of a sweep.

    Args:
        runs: what became of each cell.
        outputs: folder that the paths in ``cells.csv`` start from.
    """
    found = collect(runs)
    cells = found.assign(
        cutoff=[run.labels["cutoff"] for run in runs],
        state=["done" if run.is_done else run.state for run in runs],
        reason=found["reason"].fillna(""),
        folder=[_relative(run, outputs) for run in runs],
    )
    losses, curves = [], []
    for run in runs:
        if run.is_done:
            outcome = run.results().outcome()
            losses.append(pd.DataFrame({**run.labels, **outcome.losses}))
            curves.append(pd.DataFrame({**run.labels, **average_curve(outcome.curves)}))
    return _joined(([cells], losses, curves), str(outputs))


def merge(collections: Iterable[Collection]) -> Collection:
    """Return one collection with the cells of several, which must have none in common."""
    return _joined(zip(*collections, strict=True), "merged collections")


def average_curve(columns: Columns) -> Columns:
    """Return R_t/t at some rounds as columns: round, mean and standard error."""
    found = average_loss(columns).thinned(CURVE_POINTS)
    return {"round": found.rounds, "mean": found.mean, "standard_error": found.error}


def fill_command(labels: Mapping[str, str]) -> str:
    """Return the command that runs a cell; a label may be several, separated by commas."""
    return " ".join([COMMAND, *(f"{name}={labels[name]}" for name in LABELS)])


def fill_commands(gaps: Iterable[Mapping[str, str]]) -> list[str]:
    """Return few commands that run all the gaps.

    Datasets that lack the same cutoffs and methods share a command. A command may cover more
    than the gaps; what is finished is skipped when it runs.

    Args:
        gaps: labels of the missing cells: protocol, dataset, link, cutoff and method.
    """
    cells = pd.DataFrame(list(gaps), columns=LABELS)
    datasets = cells.groupby(["protocol", "link", "dataset"], sort=False, as_index=False)
    cutoffs = {"cutoff": lambda found: _listed(sorted(found, key=float))}
    lacking = datasets.agg({**cutoffs, "method": _listed})
    alike = lacking.groupby(["protocol", "link", "cutoff", "method"], sort=False, as_index=False)
    return [fill_command(labels) for labels in alike.agg({"dataset": _listed}).to_dict("records")]


def _listed(labels: Iterable[str]) -> str:
    return ",".join(dict.fromkeys(labels))


def _relative(run: Run, outputs: Path) -> str:
    """Return where a run is, from the outputs on; nothing of one that is not there."""
    if run.folder is None or run.state == "missing":
        return ""
    try:
        return Path(run.folder).resolve().relative_to(outputs.resolve()).as_posix()
    except ValueError as error:
        raise CollectionError(f"{run.folder} is not in {outputs}") from error


def _joined(tables: Iterable[Sequence[pd.DataFrame]], where: str) -> Collection:
    """Join the parts of each table, sorted: the order in which cells came leaves no trace."""
    joined = []
    for parts, types in zip(tables, FILES.values(), strict=True):
        # With no part there is a table too, and its columns have their types.
        empty = pd.DataFrame(columns=list(types)).astype(types)
        frame = pd.concat([empty, *(part[list(types)].astype(types) for part in parts)])
        by = [name for name in types if name in SORTED_BY]
        joined.append(frame.sort_values(by, kind="stable", ignore_index=True))
    return _checked(Collection(*joined), where)


def _checked(collection: Collection, where: str) -> Collection:
    """Return three tables; raise CollectionError if they cannot be the results of one sweep."""
    cells = collection.cells
    twice = cells[cells.duplicated(LABELS)]
    if len(twice):
        name = " ".join(twice.iloc[0][LABELS])
        raise CollectionError(f"{where}: there are two results for {name}")
    strange = sorted(set(cells["state"]) - set(STATES))
    if strange:
        raise CollectionError(f"{where}: {strange[0]!r} is no state; states: {', '.join(STATES)}")
    done = cells[cells["state"] == "done"]
    found = done[[*LABELS, "alpha"]].merge(collection.losses, how="left")
    lacking = found[found["loss"].isna()]
    if len(lacking):
        name = " ".join(lacking.iloc[0][LABELS])
        raise CollectionError(f"{where}: there is no loss under the tuned alpha of {name}")
    return collection


def _read(path: Path, types: dict[str, str]) -> pd.DataFrame:
    """Read a table; have whatever is wrong with its file told in one line."""
    if not path.is_file():
        raise CollectionError(f"{path} is not there; a collection has the files {', '.join(FILES)}")
    try:
        if path.name == CELLS:
            empty = {name: [""] for name in FIGURE_TYPES}
            frame = pd.read_csv(path, dtype="str", keep_default_na=False, na_values=empty)
        else:
            frame = pq.read_table(path).to_pandas()
        if list(frame.columns) != list(types):
            raise ValueError(f"expected the columns {', '.join(types)}")
        if path.name == CELLS:  # Python's own float(): what was written is read, to the last digit
            frame = frame.astype(dict.fromkeys(FIGURE_TYPES, "float64")).astype(types)
        for name, wanted in types.items():
            if len(frame) and frame[name].dtype != wanted:
                raise ValueError(f"{name} should be {wanted}, it is {frame[name].dtype}")
        return frame.astype(types)
    except (ValueError, TypeError, pa.ArrowException, OSError) as error:
        line = (str(error).splitlines() or [type(error).__name__])[0]
        raise CollectionError(f"{path}: {line}") from error


def _write_parquet(frame: pd.DataFrame, path: Path) -> None:
    kinds = {"str": pa.string(), "int64": pa.int64(), "float64": pa.float64()}
    schema = pa.schema([(name, kinds[kind]) for name, kind in FILES[path.name].items()])
    table = pa.Table.from_pandas(frame, schema=schema, preserve_index=False)
    with replacing(path) as partial:
        # The metadata would name the version of pandas.
        pq.write_table(table.replace_schema_metadata(None), partial, compression="zstd")

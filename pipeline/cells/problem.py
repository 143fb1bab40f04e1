"""What all cells of one dataset, protocol and link share: the data, the truth, the splits."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from pipeline.cells.cell import Cell, Cutoff
from pipeline.cells.errors import ConfigError
from pipeline.core.lanes import Split
from pipeline.core.loss import cutoff_at, fit_truth, to_scale
from pipeline.core.models.base import ModelSpec
from pipeline.data.configured import load_config
from pipeline.data.dataset import Dataset, value_hash
from pipeline.data.sources import Settings
from pipeline.data.splits import initial_size, stratified_split

T = TypeVar("T")


@dataclass(frozen=True)
class Problem:
    """A dataset made ready for online runs.

    Attributes:
        dataset: the checked table.
        spec: of the learner's model.
        truth: true score of every row.
        splits: from number 0 to the last one asked for.
    """

    dataset: Dataset
    spec: ModelSpec
    truth: NDArray[np.float64]
    splits: tuple[Split, ...]

    def cutoff_value(self, cutoff: Cutoff) -> float:
        """Return the cutoff on the scale of the score."""
        if cutoff.quantile is not None:
            return cutoff_at(self.truth, cutoff.quantile)
        assert cutoff.value is not None
        return cutoff.value


class Recent(Generic[T]):
    """The last few things made, by key: cells that follow each other often share them."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._kept: dict[str, T] = {}

    def get(self, key: str, make: Callable[[], T]) -> T:
        """Return what is kept under the key, made now if it is not."""
        value = self._kept.pop(key) if key in self._kept else make()
        self._kept[key] = value
        while len(self._kept) > self._size:
            del self._kept[next(iter(self._kept))]
        return value


_DATASETS: Recent[Dataset] = Recent(1)
_PROBLEMS: Recent[Problem] = Recent(2)
_HASHES: Recent[tuple[Dataset, str]] = Recent(1)  # with the dataset, so that its id stays its own


def dataset_of(cell: Cell, data: Settings) -> Dataset:
    """Return a cell's dataset."""
    if cell.table is not None:
        return cell.table
    config = {**cell.dataset}
    file = config.get("path")
    stamp = _stamp(Path(str(file))) if file else None
    key = json.dumps([config, cell.protocol, stamp, str(data)], sort_keys=True, default=str)
    return _DATASETS.get(key, lambda: load_config(config, cell.protocol, data))


def problem_of(cell: Cell, data: Settings) -> Problem:
    """Return a cell's problem."""
    return prepare(cell, dataset_of(cell, data))


def prepare(cell: Cell, dataset: Dataset) -> Problem:
    """Return the problem of a cell on its dataset; the last ones are kept, as cells share them."""
    parts = [data_hash(dataset), cell.link, vars(cell.setting), max(cell.splits), cell.seed]
    key = json.dumps(parts, sort_keys=True)
    return _PROBLEMS.get(key, lambda: _make(cell, dataset))


def data_hash(dataset: Dataset) -> str:
    """Return the hash of a dataset; that of the last one is kept, as it takes a while."""
    return _HASHES.get(str(id(dataset)), lambda: (dataset, _data_hash(dataset)))[1]


def _data_hash(dataset: Dataset) -> str:
    """Return a hash of X, y, the intercept, the groups and what is known of the truth."""
    parts = [value_hash(dataset.X, dataset.y)]
    if not dataset.intercept:
        parts.append("no intercept")
    if dataset.group is not None:
        codes = dataset.group.codes.astype(np.float64)
        parts += [value_hash(codes, codes), *dataset.group.names]
    if dataset.truth is not None:
        parts.append(value_hash(dataset.truth, dataset.truth))
    text = "\n".join(parts)
    return parts[0] if len(parts) == 1 else hashlib.sha256(text.encode()).hexdigest()


def _stamp(file: Path) -> tuple[int, ...] | None:
    """Return what changes when a file does."""
    try:
        found = file.stat()
    except OSError:
        return None
    # The time of the last change of any kind: rsync and cp -p set the other one back.
    return found.st_ctime_ns, found.st_mtime_ns, found.st_size


def _make(cell: Cell, dataset: Dataset) -> Problem:
    setting = cell.setting
    spec = setting.spec(setting.model, cell.link, dataset.intercept)
    if dataset.truth is not None:
        truth = to_scale(dataset.truth, spec.score)
    else:
        best = setting.spec(setting.truth, cell.link, dataset.intercept)
        with threadpool_limits(limits=1, user_api="blas"):  # else the last bits hang on the cores
            truth = fit_truth(dataset.X, dataset.y, best)
    try:
        size = initial_size(len(dataset.y), **setting.initial)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"protocol.initial: {error}") from error
    numbers = range(max(cell.splits) + 1)
    splits = tuple(stratified_split(dataset.y, size, cell.seed, number) for number in numbers)
    return Problem(dataset, spec, truth, splits)

"""The loss of every alpha on every split, cell by cell, and which alpha is tuned."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pipeline.paper.collection import CollectionError
from pipeline.paper.published import METHODS, published
from pipeline.view.names import cutoff_name, dataset_name

FloatArray = NDArray[np.float64]
T = TypeVar("T")
REPORTED, FRESH = tuple(range(10)), tuple(range(10, 20))  # the paper's ten splits; ten others


class Setting(NamedTuple):
    """One row of the paper's tables."""

    link: str
    dataset: str
    cutoff: str

    @property
    def name(self) -> str:
        """Return dataset and cutoff, as the title of a panel."""
        return f"{dataset_name(self.dataset)}, {cutoff_name(self.cutoff)}"


@dataclass(frozen=True)
class Grid:
    """One method in one setting.

    Attributes:
        alphas: in ascending order.
        splits: the columns of ``loss``.
        loss: R_T, alphas × splits; NaN where it was not run.
    """

    alphas: FloatArray
    splits: tuple[int, ...]
    loss: FloatArray

    def on(self, splits: Sequence[int]) -> FloatArray:
        """Return the losses on some splits, alphas × splits."""
        place = {split: column for column, split in enumerate(self.splits)}
        found = np.full((len(self.alphas), len(splits)), np.nan)
        for column, split in enumerate(splits):
            if split in place:
                found[:, column] = self.loss[:, place[split]]
        return found

    def has(self, splits: Sequence[int]) -> bool:
        """Tell whether every alpha was run on all these splits."""
        return not np.isnan(self.on(splits)).any()

    def tuned(self, splits: Sequence[int]) -> int:
        """Return which alpha has the least mean loss over some splits; the smallest of several."""
        return int(self.on(splits).mean(axis=1).argmin())


def grids(losses: pd.DataFrame) -> dict[Setting, dict[str, Grid]]:
    """Return the grids of one protocol's losses, by setting and method."""
    return by_setting(losses, _grid)


def by_setting(
    frame: pd.DataFrame, make: Callable[[pd.DataFrame], T]
) -> dict[Setting, dict[str, T]]:
    """Return what ``make`` makes of the rows of each cell, by setting and method."""
    found: dict[Setting, dict[str, T]] = {}
    for (*setting, method), part in frame.groupby([*Setting._fields, "method"]):
        found.setdefault(Setting(*setting), {})[method] = make(part)
    return found


def in_text() -> list[Setting]:
    """Return the settings of Tables 1 and 2, in the paper's order."""
    return [Setting(*row.key) for row in published() if row.in_text]


def present(found: Mapping[str, Any]) -> list[str]:
    """Return the methods that are there: those of the paper in its order, then others."""
    others = sorted(method for method in found if method not in METHODS)
    return [*(method for method in METHODS if method in found), *others]


def absent(found: Mapping[str, Any]) -> list[str]:
    """Return the paper's methods that are not there."""
    return [method for method in METHODS if method not in found]


def _grid(part: pd.DataFrame) -> Grid:
    alphas, rows = np.unique(part["alpha"].to_numpy(np.float64), return_inverse=True)
    splits, columns = np.unique(part["split"].to_numpy(np.int64), return_inverse=True)
    loss = np.full((len(alphas), len(splits)), np.nan)
    loss[rows, columns] = part["loss"]
    if np.isfinite(loss).sum() != len(part):
        cell = " ".join(map(str, part.iloc[0][[*Setting._fields, "method"]]))
        raise CollectionError(f"{cell}: the losses have duplicates, or some are no numbers")
    return Grid(alphas, tuple(splits.tolist()), loss)

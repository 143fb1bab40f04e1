"""The rows of the paper's tables, and results by row and method."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd

from pipeline.paper.published import METHODS, published
from pipeline.results.average import AverageLoss
from pipeline.view.names import cutoff_name, dataset_name

T = TypeVar("T")


class Setting(NamedTuple):
    """One row of the paper's tables."""

    link: str
    dataset: str
    cutoff: str

    @property
    def name(self) -> str:
        """Return dataset and cutoff, as the title of a panel."""
        return f"{dataset_name(self.dataset)}, {cutoff_name(self.cutoff)}"


Lines = dict[Setting, dict[str, AverageLoss]]


def in_text() -> list[Setting]:
    """Return the settings of Tables 1 and 2, in the paper's order."""
    return [Setting(*row.key) for row in published() if row.in_text]


def by_setting(
    frame: pd.DataFrame, make: Callable[[pd.DataFrame], T]
) -> dict[Setting, dict[str, T]]:
    """Return what ``make`` makes of the rows of each cell, by setting and method."""
    found: dict[Setting, dict[str, T]] = {}
    for (*setting, method), part in frame.groupby([*Setting._fields, "method"]):
        found.setdefault(Setting(*setting), {})[method] = make(part)
    return found


def lines_of(curves: pd.DataFrame) -> Lines:
    """Return the lines of one protocol's curves, by setting and method."""
    return by_setting(curves, _line)


def present(found: Mapping[str, Any]) -> list[str]:
    """Return the methods that are there: those of the paper in its order, then others."""
    others = sorted(method for method in found if method not in METHODS)
    return [*(method for method in METHODS if method in found), *others]


def absent(found: Mapping[str, Any]) -> list[str]:
    """Return the paper's methods that are not there."""
    return [method for method in METHODS if method not in found]


def _line(part: pd.DataFrame) -> AverageLoss:
    part = part.sort_values("round")
    columns = [part[name].to_numpy(np.float64) for name in ("mean", "standard_error")]
    return AverageLoss(part["round"].to_numpy(np.int64), *columns)

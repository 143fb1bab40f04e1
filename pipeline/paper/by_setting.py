"""Collected results by setting and method: R_t/t, and the loss of every alpha on every split."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
import pandas as pd

from pipeline.paper.collection import CollectionError
from pipeline.paper.estimates import FloatArray
from pipeline.paper.published import CELL_KEY, Setting
from pipeline.results.average import AverageLoss

T = TypeVar("T")
REPORTED, FRESH = tuple(range(10)), tuple(range(10, 20))  # the paper's ten splits; ten others


Lines = dict[Setting, dict[str, AverageLoss]]


def by_setting(
    frame: pd.DataFrame, make: Callable[[pd.DataFrame], T]
) -> dict[Setting, dict[str, T]]:
    """Return what ``make`` makes of the rows of each cell, by setting and method."""
    found: dict[Setting, dict[str, T]] = {}
    for (*setting, method), part in frame.groupby(CELL_KEY):
        found.setdefault(Setting(*setting), {})[method] = make(part)
    return found


def lines_of(curves: pd.DataFrame) -> Lines:
    """Return the lines of one protocol's curves, by setting and method."""
    return by_setting(curves, _line)


def _line(part: pd.DataFrame) -> AverageLoss:
    part = part.sort_values("round")
    columns = [part[name].to_numpy(np.float64) for name in ("mean", "standard_error")]
    return AverageLoss(part["round"].to_numpy(np.int64), *columns)


class Grid(NamedTuple):
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
        found = pd.DataFrame(self.loss, columns=self.splits).reindex(columns=splits)
        return np.ascontiguousarray(found, np.float64)

    def has(self, splits: Sequence[int]) -> bool:
        """Tell whether every alpha was run on all these splits."""
        return not np.isnan(self.on(splits)).any()

    def tuned(self, splits: Sequence[int]) -> int:
        """Return which alpha has the least mean loss over some splits; the smallest of several."""
        return int(self.on(splits).mean(axis=1).argmin())


class Relative(NamedTuple):
    """The loss of a method divided by that of greedy on the same splits.

    Attributes:
        exponents: log2 of its alphas.
        ratio: mean loss / mean loss of greedy, for each alpha.
        error: standard error of that ratio over splits.
        tuned: which alpha has the least mean loss.
    """

    exponents: FloatArray
    ratio: FloatArray
    error: FloatArray
    tuned: int


def grids(losses: pd.DataFrame) -> dict[Setting, dict[str, Grid]]:
    """Return the grids of one protocol's losses, by setting and method."""
    return by_setting(losses, _grid)


def relative(grid: Grid, greedy: Grid, splits: Sequence[int] = REPORTED) -> Relative:
    """Return the loss relative to greedy: r = mean(loss) / mean(greedy) for each alpha.

    Both were run on the same splits, so the error of r is that of a ratio of paired means:
    sd over splits of (loss − r·greedy), divided by sqrt(n)·mean(greedy); NaN of one split.
    """
    loss, base = grid.on(splits), greedy.on(splits)[0]
    ratio = loss.mean(axis=1) / base.mean()
    apart = loss - ratio[:, None] * base
    spread = apart.std(axis=1, ddof=1) if len(base) > 1 else np.full(len(ratio), np.nan)
    error = spread / (np.sqrt(len(base)) * base.mean())
    return Relative(np.log2(grid.alphas), ratio, error, grid.tuned(splits))


def _grid(part: pd.DataFrame) -> Grid:
    if part.duplicated(["alpha", "split"]).any() or not np.isfinite(part["loss"]).all():
        cell = " ".join(map(str, part.iloc[0][CELL_KEY]))
        raise CollectionError(f"{cell}: the losses have duplicates, or some are no numbers")
    loss = part.pivot(index="alpha", columns="split", values="loss")
    return Grid(loss.index.to_numpy(), tuple(loss.columns), np.ascontiguousarray(loss))

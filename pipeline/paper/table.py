"""What one table holds, whatever the format it is written in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

DIGITS = 2  # of a printed figure, as in the paper


@dataclass(frozen=True)
class Figure:
    """One figure of a table.

    Attributes:
        state: done, failed or missing.
        loss: mean over splits.
        error: standard error over splits; NaN where there is one split only.
        bold: whether it is the row's least.
    """

    state: str = "missing"
    loss: float = np.nan
    error: float = np.nan
    bold: bool = False

    @property
    def printed(self) -> str:
        """Return the mean as it is printed, or the state where there is none."""
        return f"{self.loss:.{DIGITS}f}" if self.state == "done" else self.state


@dataclass(frozen=True)
class Row:
    """One row: a dataset and cutoff, a figure for each method."""

    link: str
    dataset: str
    cutoff: str
    figures: Mapping[str, Figure]


@dataclass(frozen=True)
class Table:
    """One table of the paper.

    Attributes:
        name: of its files.
        caption: what it shows.
        rows: in the paper's order.
    """

    name: str
    caption: str
    rows: Sequence[Row]

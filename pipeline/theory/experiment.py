"""The cells of an experiment with what they found, and what is measured of them.

A collection (pipeline/paper/collection.py) has one result for each dataset, link, cutoff and
method. Here a dataset comes in many sizes and seeds, so the run folders are read themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

import pandas as pd

from pipeline.cells.cell import Cell
from pipeline.results.outcome import Outcome
from pipeline.results.runs import RunFolder
from pipeline.sweeps.gather import run_sweep
from pipeline.view.names import name_text

T = TypeVar("T")


@dataclass(frozen=True)
class Result:
    """A cell and what it found."""

    cell: Cell
    outcome: Outcome


@dataclass(frozen=True)
class Measured(Generic[T]):
    """What an experiment found.

    Attributes:
        tables: that are written as CSV, by name.
        runs: what page and figure need beside them.
    """

    tables: Mapping[str, pd.DataFrame]
    runs: Sequence[T]


def results_of(experiment: str, overrides: Sequence[str] = ()) -> list[Result]:
    """Return the results of an experiment, in the order of its sweep; compute what is not there.

    Args:
        experiment: its name in conf/experiment.
        overrides: as on the command line of ``python -m pipeline.run -m``.
    """
    swept = run_sweep([f"experiment={experiment}", *overrides])
    runs, failed = swept.runs, swept.failed
    if failed:
        first = f"{name_text(failed[0].labels)}: {failed[0].reason}"
        raise ValueError(
            f"experiment={experiment}: {len(failed)} of {len(runs)} cells failed, first {first}"
        )
    return [
        Result(cell, RunFolder(Path(str(run.folder))).outcome())
        for cell, run in zip(swept.cells, runs, strict=True)
    ]

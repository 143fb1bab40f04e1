"""Sweeps from Python, for notebooks: the run folders of the command line, as frames.

from pipeline import sweep

found = sweep("diabetes", cutoff=[0.5, 0.7], method=["greedy", "margin", "ours"])
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from hydra.errors import HydraException

from pipeline.cells.cell import Cell
from pipeline.cells.errors import ConfigError
from pipeline.cells.read import check_machine, check_sources, make_cell
from pipeline.data.dataset import Dataset
from pipeline.data.own_table import OWN_TABLES
from pipeline.results.frame import collect
from pipeline.results.journal import Run
from pipeline.sweeps.batch import run_batch
from pipeline.sweeps.hydra_errors import explain_request
from pipeline.sweeps.plan import Planned, plan
from pipeline.sweeps.progress import Listener
from pipeline.view.names import name_text

NAME = re.compile(r"[\w-][\w.-]*")  # of a table: folders are called so


def sweep(
    dataset: str | Dataset | Iterable[str | Dataset] = "diabetes",
    link: str | Iterable[str] = "linear",
    cutoff: float | Iterable[float | None] | None = None,
    method: str | Iterable[str] = "ours",
    *,
    protocol: str | Iterable[str] = "inferred",
    alpha: str | float | Sequence[float] = "grid",
    splits: int | Sequence[int] = 10,
    seed: int = 0,
    n_jobs: int = -1,
    outputs: str | Path = "outputs",
    tracking: str = "none",
    force: bool = False,
    config_dirs: Sequence[str | Path] = (),
    overrides: Sequence[str] = (),
    progress: Callable[[int, int], None] | None = None,
) -> pd.DataFrame:
    """Run every combination and return one row for each; what is there already is kept.

    A failed cell is a row with its reason, and a warning names it. :func:`curves` and
    :func:`groups` take the result.

    Args:
        dataset: name or names as in ``dataset=…``, or tables of your own (``load_frame``).
        link: linear, logistic, probit.
        cutoff: share of rows truly below it; None: 0.5, or what the dataset brings along.
        method: name or names as in ``method=…``.
        protocol: inferred or stated.
        alpha: ``grid``, a number or a list; the best is chosen.
        splits: their number, or a list of their numbers.
        seed: of splits and draws.
        n_jobs: processes; −1: one for each core.
        outputs: where results are kept.
        tracking: ``none`` or ``mlflow``.
        force: compute also what is there already.
        config_dirs: folders of configs and methods of your own.
        overrides: anything else, as on the command line, such as ``protocol.delay=10``.
        progress: is told how many cells of how many have ended.
    """
    axes = {"link": link, "cutoff": cutoff, "method": method, "protocol": protocol}
    lines = [
        *(f"{key}={','.join(map(_text, _listed(value)))}" for key, value in axes.items()),
        *(f"alpha={_text(alpha)}", f"splits={_text(splits)}", f"seed={seed}"),
        *(f"tracking={tracking}", *overrides),
    ]
    folders = [Path(folder) for folder in config_dirs]
    cells, values = _cells(_listed(dataset), lines, folders)
    values = {**values, "n_jobs": n_jobs, "force": force, "outputs": Path(outputs).resolve()}
    check_machine(values)
    check_sources(values["data"])
    names = ",".join(dict.fromkeys(cell.dataset_label for cell in cells))
    call = " ".join(["pipeline.sweep", f"dataset={names}", *lines])
    untold: list[str] = []
    runs = run_batch(cells, values, call, _Counter(progress, len(cells)), untold.append)
    failed = [f"{name_text(run.labels)}: {run.reason}" for run in runs if run.state == "failed"]
    if failed:
        untold.append(f"{len(failed)} of {len(runs)} cells failed: {'; '.join(failed)}")
    for text in untold:
        warnings.warn(text, stacklevel=2)
    return collect(runs)


def _cells(
    datasets: Sequence[Any], lines: Sequence[str], config_dirs: Sequence[Path]
) -> tuple[list[Cell], dict[str, Any]]:
    """Return the cells, those of named datasets first, and the values of one of them."""
    names = [one for one in datasets if not isinstance(one, Dataset)]
    # A copy each time, of the same arrays: their hash is kept with it, and they may have changed.
    tables = [replace(one) for one in datasets if isinstance(one, Dataset)]
    jobs: list[Planned] = []
    others: list[Planned] = []
    try:
        if names:
            jobs = plan([f"dataset={','.join(map(_text, names))}", *lines], config_dirs)
        if tables:
            others = plan(lines, config_dirs)
    except HydraException as error:
        raise ConfigError(explain_request(error)) from error
    if not jobs and not others:
        raise ConfigError("there is nothing to run: name at least one dataset, link and method")
    cells = [job.cell() for job in jobs]
    cells += [_cell_of_table(table, job) for table in tables for job in others]
    return cells, (jobs or others)[0].values


def _cell_of_table(table: Dataset, job: Planned) -> Cell:
    if table.name in OWN_TABLES or not NAME.fullmatch(table.name):
        raise ConfigError(f"a table cannot be called {table.name!r}: give it a name of letters")
    dataset: dict[str, Any] = {"name": table.name}
    if table.group is not None:
        dataset["group"] = table.group.column
    values = {**job.values, "dataset": dataset}
    if values["cutoff"] is None and values["cutoff_value"] is None:
        values["cutoff_value"] = table.cutoff_value
    return replace(make_cell(values, job.config_dirs), table=table)


def _listed(value: Any) -> list[Any]:
    """Return one value, or many, as a list."""
    if value is None or isinstance(value, str | Dataset) or not isinstance(value, Iterable):
        return [value]
    return list(value)


def _text(value: Any) -> str:
    """Return a value as Hydra reads it on a command line."""
    if value is None:
        return "null"
    if isinstance(value, Iterable) and not isinstance(value, str):
        return f"[{','.join(map(_text, value))}]"
    return repr(value.item()) if isinstance(value, np.generic) else str(value)


class _Counter(Listener):
    """Tells how many cells of how many have ended."""

    def __init__(self, tell: Callable[[int, int], None] | None, total: int) -> None:
        self._tell, self._total, self._ended = tell, total, 0

    def finished(self, run: Run) -> None:  # noqa: ARG002
        self._ended += 1
        if self._tell is not None:
            self._tell(self._ended, self._total)

"""Run cells: keep what is there, compute the rest, record failures, lose nothing."""

from __future__ import annotations

import json
import time
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from pipeline.cells.cell import Cell
from pipeline.cells.compute import Progress, compute
from pipeline.cells.errors import explain
from pipeline.cells.identity import environment_of, folder_of, identity_of
from pipeline.cells.problem import problem_of
from pipeline.data.sources import Settings
from pipeline.files import remove_parts
from pipeline.results.journal import Run
from pipeline.results.runs import RunFolder


@dataclass(frozen=True)
class Places:
    """Where data come from and results go to."""

    outputs: Path
    data: Settings


def dataset_key(cell: Cell) -> str:
    """Return what is the same for cells of the same data."""
    parts = [dict(cell.dataset), cell.protocol, None if cell.table is None else id(cell.table)]
    return json.dumps(parts, sort_keys=True, default=str)


def look_for(cells: Mapping[int, Cell], places: Places) -> dict[int, Run]:
    """Return how each cell stands: kept, failed or missing, without a folder if its data are bad.

    A dataset that has to be loaded to be known is loaded once.
    """
    keys = {number: dataset_key(cell) for number, cell in cells.items()}
    found: dict[int, Run] = {}
    bad: dict[str, Run] = {}
    for number in sorted(cells, key=keys.__getitem__):  # by dataset: only the last one is kept
        cell, key = cells[number], keys[number]
        run = Run(number, "missing", cell.labels)
        if key in bad:
            run = run.but(reason=bad[key].reason, trace=bad[key].trace)
        else:
            run = _look(run, cell, places)
        if run.folder is None:
            bad[key] = run
        found[number] = run
    return {number: found[number] for number in cells}


def _look(run: Run, cell: Cell, places: Places) -> Run:
    try:
        folder = folder_of(cell, identity_of(cell, places.data), places.outputs)
    except Exception as error:  # whatever it is, the other cells can be told
        return run.but(reason=explain(error), trace=traceback.format_exc())
    state = folder.state
    if state == "missing":
        return run.but(folder=str(folder.path))
    reason = folder.status.get("reason")
    return run.ended("kept" if state == "done" else "failed", folder, reason=reason)


def fail(run: Run, cell: Cell, places: Places, reason: str) -> Run:
    """Record that a cell failed outside of its computation, in its folder if it has one."""
    if run.folder is None:
        return run.ended("failed", reason=reason)
    with suppress(OSError):
        run.results().fail(_config(identity_of(cell, places.data)), reason, reason)
    return run.ended("failed", run.results(), reason=reason)


def run_cells(
    cells: Mapping[int, Cell],
    places: Places,
    *,
    force: bool = False,
    threads: int = 1,
    progress: Progress | None = None,
) -> list[Run]:
    """Run cells of one problem and return what became of each, in their order.

    What was computed before from the same config, data, method and engine is kept. If a joint
    computation fails, the cells are computed one by one, so that one failure stays alone.
    """
    tasks = [_task(number, cell, places, force) for number, cell in cells.items()]
    _compute_all(list(filter(_is_open, tasks)), places, threads, progress)
    return [task.run for task in tasks]


@dataclass
class _Task:
    """A cell on its way to a finished run."""

    cell: Cell
    run: Run
    identity: dict[str, Any] = field(default_factory=dict)
    folder: RunFolder | None = None

    def fail(self, error: Exception) -> None:
        """Record a failure, in the run folder too if there is one."""
        reason, trace = explain(error), traceback.format_exc()
        if self.folder is None:
            self.run = self.run.ended("failed", reason=reason, trace=trace)
            return
        with suppress(OSError):  # a full disk may be the very reason, which is handed on anyway
            self.folder.fail(_config(self.identity), reason, trace)
        self.run = self.run.ended("failed", self.folder, reason=reason)


def _is_open(task: _Task) -> bool:
    return task.run.state == "running"


def _task(number: int, cell: Cell, places: Places, force: bool) -> _Task:
    task = _Task(cell, Run(number, "running", cell.labels))
    try:
        task.identity = identity_of(cell, places.data)
        task.folder = folder_of(cell, task.identity, places.outputs)
        remove_parts(task.folder.path)
        if task.folder.state == "done" and not force:
            task.run = task.run.ended("kept", task.folder)
    except Exception as error:
        task.fail(error)
    return task


def _compute_all(
    tasks: Sequence[_Task], places: Places, threads: int, progress: Progress | None
) -> None:
    if not tasks:
        return
    try:
        _compute(tasks, places, threads, progress)
    except Exception as error:
        if len(tasks) == 1:
            tasks[0].fail(error)
            return
        for task in filter(_is_open, tasks):
            _compute_all([task], places, threads, progress)


def _compute(
    tasks: Sequence[_Task], places: Places, threads: int, progress: Progress | None
) -> None:
    start = time.perf_counter()
    problem = problem_of(tasks[0].cell, places.data)
    outcomes = compute([task.cell for task in tasks], problem, threads, progress)
    seconds = (time.perf_counter() - start) / len(tasks)
    for task, outcome in zip(tasks, outcomes, strict=True):
        assert task.folder is not None
        environment = environment_of(task.identity, problem.dataset)
        task.folder.save(outcome, _config(task.identity), environment, seconds)
        task.run = task.run.ended("computed", task.folder, seconds=seconds)


def _config(identity: Mapping[str, Any]) -> str:
    return OmegaConf.to_yaml(OmegaConf.create(dict(identity)))

"""Run cells: keep what is there, compute the rest, record failures, lose nothing."""

from __future__ import annotations

import time
import traceback
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from pipeline.data.sources import Settings
from pipeline.files import remove_parts
from pipeline.jobs.cell import Cell
from pipeline.jobs.compute import Progress, compute
from pipeline.jobs.environment import environment_of
from pipeline.jobs.explain import explain
from pipeline.jobs.identity import folder_of, identity_of
from pipeline.jobs.problem import problem_of
from pipeline.results.outcome import Outcome
from pipeline.results.runs import RunFolder
from pipeline.results.sweeps import JobState


@dataclass(frozen=True)
class Places:
    """Where data come from and results go to."""

    outputs: Path
    data: Settings


@dataclass(frozen=True)
class Run:
    """What became of one cell.

    Attributes:
        cell: what was asked for.
        folder: where its results are; None where not even that could be told.
        state: computed, kept or failed.
        reason: of a failure, in one line.
        seconds: the time its computation took, its share where cells were computed together.
        trace: of a failure without a folder to keep it in.
    """

    cell: Cell
    folder: RunFolder | None
    state: JobState
    reason: str | None = None
    seconds: float = 0.0
    trace: str | None = None


def run_cells(
    cells: Sequence[Cell],
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
    plans = [_plan(cell, places, force) for cell in cells]
    todo = [plan for plan in plans if plan.run is None]
    _compute_all(todo, places, threads, progress)
    return [plan.finished for plan in plans]


@dataclass
class _Plan:
    """A cell on its way to a run."""

    cell: Cell
    identity: dict[str, Any] | None = None
    folder: RunFolder | None = None
    run: Run | None = None

    @property
    def finished(self) -> Run:
        assert self.run is not None
        return self.run

    @property
    def config(self) -> str:
        return OmegaConf.to_yaml(OmegaConf.create(self.identity))

    def fail(self, error: Exception) -> None:
        """Record a failure, in the run folder too if there is one."""
        reason, trace = explain(error), traceback.format_exc()
        if self.folder is None:
            self.run = Run(self.cell, None, "failed", reason, trace=trace)
            return
        with suppress(OSError):  # a full disk may be the very reason, which is handed on anyway
            self.folder.fail(self.config, reason, trace)
        self.run = Run(self.cell, self.folder, "failed", reason)


def _plan(cell: Cell, places: Places, force: bool) -> _Plan:
    plan = _Plan(cell)
    try:
        plan.identity = identity_of(cell, places.data)
        plan.folder = folder_of(cell, plan.identity, places.outputs)
        remove_parts(plan.folder.path)
        if plan.folder.state == "done" and not force:
            plan.run = Run(cell, plan.folder, "kept")
    except Exception as error:
        plan.fail(error)
    return plan


def _compute_all(
    plans: Sequence[_Plan], places: Places, threads: int, progress: Progress | None
) -> None:
    if not plans:
        return
    try:
        _compute(plans, places, threads, progress)
    except Exception as error:
        if len(plans) == 1:
            plans[0].fail(error)
            return
        for plan in plans:
            _compute_all([plan], places, threads, progress)


def _compute(
    plans: Sequence[_Plan], places: Places, threads: int, progress: Progress | None
) -> None:
    start = time.perf_counter()
    problem = problem_of(plans[0].cell, places.data)
    outcomes = compute([plan.cell for plan in plans], problem, threads, progress)
    seconds = (time.perf_counter() - start) / len(plans)
    for plan, outcome in zip(plans, outcomes, strict=True):
        _save(plan, outcome, environment_of(plan.identity or {}, problem.dataset), seconds)


def _save(plan: _Plan, outcome: Outcome, environment: Any, seconds: float) -> None:
    assert plan.folder is not None
    plan.folder.save(outcome, plan.config, environment, seconds)
    plan.run = Run(plan.cell, plan.folder, "computed", seconds=seconds)

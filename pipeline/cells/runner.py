"""Run cells: keep what is there, compute the rest, record failures, lose nothing."""

from __future__ import annotations

import json
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from pipeline.cells.cell import Cell
from pipeline.cells.compute import Progress, compute
from pipeline.cells.errors import explain
from pipeline.cells.identity import environment_of, folder_of, identity_of
from pipeline.cells.problem import problem_of
from pipeline.data.errors import DataError
from pipeline.data.sources import Settings
from pipeline.files import remove_parts
from pipeline.results.journal import Run


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
        if key not in bad:
            found[number] = _look(Run(number, "missing", cell.labels), cell, places)
        else:
            found[number] = bad[key].but(number=number, labels=cell.labels)
        if found[number].folder is None:
            bad[key] = found[number]
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


def settle(cells: Mapping[int, Cell], places: Places, force: bool) -> dict[int, Run]:
    """Return how each cell begins: kept from before, failed for want of data, or missing."""
    runs = look_for(cells, places)
    for number, run in runs.items():
        if run.folder is None:
            runs[number] = run.ended("failed", reason=run.reason)
            continue
        remove_parts(Path(run.folder))
        if force or not run.is_done:
            runs[number] = Run(number, "missing", run.labels, run.folder)
    return runs


def fail(run: Run, cell: Cell, places: Places, reason: str, trace: str) -> Run:
    """Record that a cell failed, in its folder if it has one."""
    if run.folder is None:
        return run.ended("failed", reason=reason)
    with suppress(OSError, DataError):  # a full disk or a removed table may be the very reason
        run.results().fail(_config(identity_of(cell, places.data)), reason, trace)
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
    runs = settle(cells, places, force)

    def attempt(some: Sequence[Run]) -> None:
        try:
            for run in _compute(some, cells, places, threads, progress):
                runs[run.number] = run
        except Exception as error:
            if len(some) == 1:
                run = some[0]
                reason, trace = explain(error), traceback.format_exc()
                runs[run.number] = fail(run, cells[run.number], places, reason, trace)
                return
            for run in some:
                if not runs[run.number].is_done:
                    attempt([run])

    missing = [run for run in runs.values() if run.state == "missing"]
    if missing:
        attempt(missing)
    return list(runs.values())


def _compute(
    runs: Sequence[Run],
    cells: Mapping[int, Cell],
    places: Places,
    threads: int,
    progress: Progress | None,
) -> Iterator[Run]:
    """Compute cells together; yield each as soon as its figures are saved."""
    some = [cells[run.number] for run in runs]
    identities = [identity_of(cell, places.data) for cell in some]
    start = time.perf_counter()
    problem = problem_of(some[0], places.data)
    outcomes = compute(some, problem, threads, progress)
    seconds = (time.perf_counter() - start) / len(some)
    for run, cell, identity, outcome in zip(runs, some, identities, outcomes, strict=True):
        folder = folder_of(cell, identity, places.outputs)
        environment = environment_of(identity, problem.dataset)
        folder.save(outcome, _config(identity), environment, seconds)
        yield run.ended("computed", folder, seconds=seconds)


def _config(identity: Mapping[str, Any]) -> str:
    return OmegaConf.to_yaml(OmegaConf.create(dict(identity)))

"""Run cells: keep what is there, hand the rest to workers in parts, lose nothing with a worker.

What a cell gives is written by the process that computed it, at once. When a worker dies, the
parts then running are tried again, cell by cell; a cell in whose company a worker dies again is
tried alone, and reported if that fails too. The others go on. Results do not depend on any of it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.cells.cell import Cell
from pipeline.cells.read import places_of
from pipeline.cells.runner import Places, fail, look_for, settle
from pipeline.results.journal import Journal, Run
from pipeline.sweeps.part import MOST_CELLS, Part, divide, pack
from pipeline.sweeps.warm import warm_up

WORKER_DIED = "its worker died (killed, or out of memory; fewer at once: n_jobs=1)"
NEVER_SAID = "its worker ended without a word"


class WorkerDiedError(Exception):
    """A worker died; which part it was at is seen from the journal."""


# Runs parts, by their files; returns when all have ended, or raises WorkerDiedError.
Executor = Callable[[Sequence[Path]], None]


@dataclass(frozen=True)
class Order:
    """How cells are to be run.

    Attributes:
        places: where data come from and results go to.
        executor: runs the parts.
        workers: processes at the same time.
        force: compute also what is there already.
        threads: of a worker; None: what the cores allow.
        most: cells of a part.
    """

    places: Places
    executor: Executor
    workers: int = 1
    force: bool = False
    threads: int | None = None
    most: int = MOST_CELLS


def order_of(values: Mapping[str, Any], executor: Executor) -> Order:
    """Return how the cells of a config are to be run."""
    import joblib

    return Order(
        places=places_of(values),
        executor=executor,
        workers=joblib.effective_n_jobs(values["n_jobs"]),
        force=values["force"],
        threads=values["threads"],
        most=values["part"] or MOST_CELLS,
    )


def run(cells: Mapping[int, Cell], order: Order, journal: Journal) -> list[Run]:
    """Run cells of any problems; return what became of each, in the order of their numbers.

    Args:
        cells: what to run, by number.
        order: how.
        journal: where it is written down; parts lie beside it while they run.
    """
    begun = settle(cells, order.places, order.force)
    for one in begun.values():
        if one.is_over:
            journal.write(one)
    left = {number: cells[number] for number, one in begun.items() if not one.is_over}
    if left:
        warm_up({cell.link for cell in left.values()})
        _Sweep(cells, order, journal).complete(divide(left, order.workers, order.most))
    return list(journal.runs())


class _Sweep:
    """Cells on their way."""

    def __init__(self, cells: Mapping[int, Cell], order: Order, journal: Journal) -> None:
        self.cells, self.order, self.journal = cells, order, journal
        self.folder = journal.path / "parts"

    def complete(self, parts: Sequence[Sequence[int]]) -> None:
        """Compute parts; what a worker died at is tried again cell by cell, at last alone."""
        try:
            suspects = self._rounds(parts)
            suspects = self._rounds([[number] for number in suspects])
            for number in suspects:
                if self._rounds([[number]]):
                    self._fail([number], WORKER_DIED)
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _rounds(self, parts: Sequence[Sequence[int]]) -> list[int]:
        """Launch parts until each has ended or was begun by a worker that died; return these."""
        suspects: list[int] = []
        waiting = [list(part) for part in parts]
        while waiting:
            died = self._launch(waiting)
            waiting = [left for part in waiting if (left := self._left(part))]
            if not died:
                self._fail([number for part in waiting for number in part], NEVER_SAID)
                break
            begun = [part for part in waiting if any(map(self.journal.read, part))]
            if waiting and not begun:  # workers that die before they begin
                self._fail([number for part in waiting for number in part], WORKER_DIED)
                break
            suspects += [number for part in begun for number in part]
            waiting = [part for part in waiting if part not in begun]
        for number in suspects:
            self.journal.forget(number)
        return suspects

    def _launch(self, parts: Sequence[Sequence[int]]) -> bool:
        """Have parts computed; return whether a worker died."""
        self.folder.mkdir(parents=True, exist_ok=True)
        order, cells = self.order, {number: self.cells[number] for part in parts for number in part}
        parcels = pack(cells, self.folder)
        files = [self.folder.resolve() / f"{part[0]:05}.part" for part in parts]
        for file, part in zip(files, parts, strict=True):
            Part(
                parcels={number: parcels[number] for number in part},
                places=order.places,
                force=order.force,
                threads=order.threads or max(1, order.workers // len(parts)),
                journal=self.journal.path.absolute(),
                cwd=Path.cwd(),
                parent=os.getpid(),
            ).save(file)
        try:
            order.executor(files)
        except WorkerDiedError:
            return True
        return False

    def _left(self, part: Sequence[int]) -> list[int]:
        """Return the cells that have not ended."""
        runs = {number: self.journal.read(number) for number in part}
        return [number for number, run in runs.items() if run is None or not run.is_over]

    def _fail(self, numbers: Sequence[int], reason: str) -> None:
        """Hand in cells as failed, but for those that were finished before."""
        cells = {number: self.cells[number] for number in numbers}
        for number, run in look_for(cells, self.order.places).items():
            if run.is_done and not self.order.force:
                self.journal.write(run.but(state="computed"))
            else:
                self.journal.write(fail(run, cells[number], self.order.places, reason, reason))

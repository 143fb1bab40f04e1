"""Run cells: keep what is there, hand the rest to workers in parts, lose nothing with a worker.

What a cell gives is written by the process that computed it, at once. When a worker dies, the
parts then running are tried again, cell by cell; a cell in whose company a worker dies again is
tried alone, and reported if that fails too. The others go on. Results do not depend on any of it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.cells.cell import Cell
from pipeline.cells.read import places_of
from pipeline.cells.runner import Places, fail, look_for
from pipeline.files import remove_parts
from pipeline.results.journal import FINISHED, Journal, Run
from pipeline.sweeps.part import MOST_CELLS, Parcel, Part, divide, pack
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


def order_of(values: Mapping[str, Any], executor: Executor, n_jobs: int) -> Order:
    """Return how the cells of a config are to be run."""
    import joblib

    most = {} if values["part"] is None else {"most": values["part"]}
    return Order(
        places=places_of(dict(values)),
        executor=executor,
        workers=joblib.effective_n_jobs(n_jobs),
        force=values["force"],
        threads=values["threads"],
        **most,
    )


def run(cells: Mapping[int, Cell], order: Order, journal: Journal) -> list[Run]:
    """Run cells of any problems; return what became of each, in the order of their numbers.

    Args:
        cells: what to run, by number.
        order: how.
        journal: where it is written down; parts lie beside it while they run.
    """
    sweep = _Sweep(cells, order, journal)
    sweep.settle()
    parts = divide({number: cells[number] for number in sweep.left}, order.workers, order.most)
    if parts:
        warm_up()
        sweep.complete(parts)
    return list(journal.runs())


class _Sweep:
    """Cells on their way."""

    def __init__(self, cells: Mapping[int, Cell], order: Order, journal: Journal) -> None:
        self.cells, self.order, self.journal = cells, order, journal
        self.folder = journal.path / "parts"

    @property
    def left(self) -> list[int]:
        """The cells that have not ended."""
        return [number for number in self.cells if not self._ended(number)]

    def settle(self) -> None:
        """Write down what is there already, and what cannot be computed."""
        for run in look_for(self.cells, self.order.places).values():
            if run.folder is None:
                self.journal.write(run.ended("failed", reason=run.reason))
                continue
            remove_parts(Path(run.folder))
            if run.is_done and not self.order.force:
                self.journal.write(run)

    def complete(self, parts: Sequence[Sequence[int]]) -> None:
        """Compute parts; what a worker died at is tried again cell by cell, at last alone."""
        try:
            suspects = self._rounds(parts)
            suspects = self._rounds([[number] for number in suspects])
            for number in suspects:
                if self._rounds([[number]]):
                    self._fail([number], WORKER_DIED)
        finally:
            self._clear()

    def _rounds(self, parts: Sequence[Sequence[int]]) -> list[int]:
        """Launch parts until each has ended or was begun by a worker that died; return these."""
        suspects: list[int] = []
        waiting = [list(part) for part in parts]
        while waiting:
            died = self._launch(waiting)
            waiting = [part for part in map(self._open, waiting) if part]
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
        cells = {number: self.cells[number] for part in parts for number in part}
        parcels = pack(cells, self.folder)
        files = []
        for part in parts:
            file = self.folder.resolve() / f"{part[0]:05}.part"
            self._part({number: parcels[number] for number in part}, len(parts)).save(file)
            files.append(file)
        try:
            self.order.executor(files)
        except WorkerDiedError:
            return True
        return False

    def _part(self, parcels: Mapping[int, Parcel], n_parts: int) -> Part:
        order = self.order
        return Part(
            parcels=parcels,
            places=order.places,
            force=order.force,
            threads=order.threads or max(1, order.workers // n_parts),
            journal=self.journal.path.absolute(),
            cwd=Path.cwd(),
            parent=os.getpid(),
        )

    def _open(self, part: Sequence[int]) -> list[int]:
        return [number for number in part if not self._ended(number)]

    def _ended(self, number: int) -> bool:
        run = self.journal.read(number)
        return run is not None and run.state in FINISHED

    def _fail(self, numbers: Sequence[int], reason: str) -> None:
        """Hand in cells as failed, but for those that were finished before."""
        cells = {number: self.cells[number] for number in numbers}
        for number, run in look_for(cells, self.order.places).items():
            if run.is_done and not self.order.force:
                self.journal.write(run.but(state="computed"))
            else:
                self.journal.write(fail(run, cells[number], self.order.places, reason))

    def _clear(self) -> None:
        """Remove the files of the parts."""
        for file in self.folder.glob("*"):
            with suppress(OSError):
                file.unlink()
        with suppress(OSError):
            self.folder.rmdir()

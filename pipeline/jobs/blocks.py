"""Run many cells in blocks that share a problem, on all cores of a machine.

What a cell gives is written by the process that computed it, at once. A worker that dies takes
nothing finished with it: what it was at is tried again, each cell alone, and reported if that
fails too; the others go on.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import joblib
from omegaconf import OmegaConf

from pipeline.jobs.cell import Cell
from pipeline.jobs.division import divide
from pipeline.jobs.explain import explain
from pipeline.jobs.identity import identity_of
from pipeline.jobs.look import Found, look_for
from pipeline.jobs.parcel import pack
from pipeline.jobs.pool import Pool, Reply, reply
from pipeline.jobs.runner import Places, Run, run_cells
from pipeline.jobs.warm import warm_up
from pipeline.results.runs import RunFolder

OnDone = Callable[[int, Run], None]
WORKER_DIED = "its worker died (killed, or out of memory; fewer at once: n_jobs=1)"


def run_blocks(
    cells: Sequence[Cell],
    places: Places,
    n_jobs: int = -1,
    force: bool = False,
    on_done: OnDone | None = None,
) -> list[Run]:
    """Run cells of any problems and return what became of each, in their order.

    The results on disk do not depend on how the cells are divided.

    Args:
        cells: what to run.
        places: where data come from and results go to.
        n_jobs: processes; −1: one for each core.
        force: compute also what is there already.
        on_done: is told number and run of every cell as it ends.
    """
    places = Places(places.outputs.resolve(), places.data)
    desk = _Desk(cells, places, force, on_done)
    desk.settle(look_for(cells, places))
    workers = joblib.effective_n_jobs(n_jobs)
    parts = divide({number: cells[number] for number in desk.open}, workers)
    if not parts:
        return desk.result
    warm_up()
    if min(workers, len(parts)) == 1:
        for part in parts:
            desk.compute_here(part, workers)
        return desk.result
    _compute_there(desk, parts, workers)
    return desk.result


def _compute_there(desk: _Desk, parts: list[list[int]], workers: int) -> None:
    """Compute parts in other processes."""
    numbers = desk.open
    with tempfile.TemporaryDirectory(prefix="onesided-") as folder:
        parcels = pack([desk.cells[number] for number in numbers], Path(folder))
        pool = Pool(
            parcels=dict(zip(numbers, parcels, strict=True)),
            places=desk.places,
            force=desk.force,
            threads=max(1, workers // len(parts)),
            folder=Path(folder),
        )
        for part, result in pool.run(parts, workers):
            if result is None:
                desk.fail(part, WORKER_DIED, WORKER_DIED)
            elif isinstance(result, Exception):
                desk.fail(part, explain(result), repr(result))
            else:
                desk.receive(part, result)


class _Desk:
    """Where runs are handed in."""

    def __init__(
        self, cells: Sequence[Cell], places: Places, force: bool, on_done: OnDone | None
    ) -> None:
        self.cells, self.places, self.force = cells, places, force
        self._on_done = on_done
        self._runs: dict[int, Run] = {}

    @property
    def open(self) -> list[int]:
        """Return the cells that have not ended."""
        return [number for number in range(len(self.cells)) if number not in self._runs]

    @property
    def result(self) -> list[Run]:
        return [self._runs[number] for number in range(len(self.cells))]

    def settle(self, found: Sequence[Found]) -> None:
        """Hand in what is there already, and what cannot be computed."""
        for number, one in enumerate(found):
            cell = self.cells[number]
            if one.folder is None:
                self.hand_in(number, Run(cell, None, "failed", one.reason))
            elif one.folder.state == "done" and not self.force:
                self.hand_in(number, Run(cell, one.folder, "kept"))

    def hand_in(self, number: int, run: Run) -> None:
        self._runs[number] = run
        if self._on_done is not None:
            self._on_done(number, run)

    def receive(self, part: Iterable[int], replies: Sequence[Reply]) -> None:
        for number, one in zip(part, replies, strict=True):
            folder = None if one.folder is None else RunFolder(one.folder)
            run = Run(self.cells[number], folder, one.state, one.reason, one.seconds)
            self.hand_in(number, run)

    def fail(self, part: Iterable[int], reason: str, trace: str) -> None:
        """Hand in cells as failed, but for those that were finished before."""
        for number in part:
            cell = self.cells[number]
            (found,) = look_for([cell], self.places)
            if found.folder is not None and found.folder.state == "done" and not self.force:
                self.hand_in(number, Run(cell, found.folder, "computed"))
                continue
            self._note(cell, found.folder, reason, trace)
            self.hand_in(number, Run(cell, found.folder, "failed", reason))

    def _note(self, cell: Cell, folder: RunFolder | None, reason: str, trace: str) -> None:
        """Write a failure into the run folder, if that can be written to."""
        if folder is None:
            return
        identity = identity_of(cell, self.places.data)
        with suppress(OSError):  # a full disk may be the very reason, which is handed in anyway
            folder.fail(OmegaConf.to_yaml(OmegaConf.create(identity)), reason, trace)

    def compute_here(self, part: Sequence[int], threads: int) -> None:
        """Compute a part in this process."""
        cells = [self.cells[number] for number in part]
        try:
            runs = run_cells(cells, self.places, force=self.force, threads=threads)
        except Exception as error:  # such as a disk too full to note a failure
            self.fail(part, explain(error), repr(error))
            return
        self.receive(part, [reply(run) for run in runs])

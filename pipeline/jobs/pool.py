"""Worker processes that compute parts, and are started anew when one has died."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path

from joblib.externals.loky import get_reusable_executor

from pipeline.jobs.parcel import Parcel
from pipeline.jobs.runner import Places, Run, run_cells
from pipeline.results.sweeps import JobState

# A worker is one core: threads of BLAS would only get into each other's way.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
IDLE_SECONDS = 300  # a notebook's next sweep finds the workers warm
Part = Sequence[int]


@dataclass(frozen=True)
class Reply:
    """What a worker says of a cell: its run without the cell, which the parent has."""

    folder: Path | None
    state: JobState
    reason: str | None
    seconds: float


def reply(run: Run) -> Reply:
    """Return a run without its cell."""
    folder = None if run.folder is None else run.folder.path
    return Reply(folder, run.state, run.reason, run.seconds)


# What became of a part: replies, an error, or None where its worker died.
Result = list[Reply] | Exception | None


@dataclass(frozen=True)
class Task:
    """What a worker is given: cells, and the file by which it says that it has begun."""

    parcels: Sequence[Parcel]
    places: Places
    force: bool
    threads: int
    cwd: Path
    begun: Path


def work(task: Task) -> list[Reply]:
    """Compute a part; called in a worker."""
    os.chdir(task.cwd)  # workers outlive a sweep, and paths of data may be relative
    task.begun.touch()
    cells = [parcel.unpack() for parcel in task.parcels]
    runs = run_cells(cells, task.places, force=task.force, threads=task.threads)
    return [reply(run) for run in runs]


@dataclass(frozen=True)
class Pool:
    """Computes parts in worker processes.

    Attributes:
        parcels: the cells, by number.
        places: where data come from and results go to.
        force: compute also what is there already.
        threads: of a worker.
        folder: for files that go when the work is done.
    """

    parcels: Mapping[int, Parcel]
    places: Places
    force: bool
    threads: int
    folder: Path

    def run(self, parts: Sequence[Part], workers: int) -> Iterator[tuple[Part, Result]]:
        """Yield what became of each part, as it ends; cells whose worker died are tried alone."""
        waiting, suspects = list(parts), list[int]()
        while waiting:
            untouched: list[Part] = []
            for part, result, begun in self._round(waiting, workers):
                if result is not None:
                    yield part, result
                elif begun:
                    suspects += part
                else:
                    untouched.append(part)
            if len(untouched) == len(waiting):  # workers that die before they begin
                yield from ((part, None) for part in untouched)
                break
            waiting = untouched
        for number in suspects:
            for part, result, _ in self._round([[number]], 1):
                yield part, result

    def _round(self, parts: Sequence[Part], workers: int) -> Iterator[tuple[Part, Result, bool]]:
        """Yield part, result and whether it was begun, until all are done or a worker has died."""
        executor = get_reusable_executor(workers, timeout=IDLE_SECONDS, env=ONE_THREAD)
        with tempfile.TemporaryDirectory(dir=self.folder) as marks:
            tasks = [self._task(part, Path(marks) / str(part[0])) for part in parts]
            futures = {self._submit(executor, task): number for number, task in enumerate(tasks)}
            try:
                for future in as_completed(futures):
                    number = futures[future]
                    yield parts[number], _result(future), tasks[number].begun.exists()
            except BaseException:  # an interrupt, or whoever asked has had enough
                executor.shutdown(kill_workers=True)
                raise

    def _task(self, part: Part, begun: Path) -> Task:
        parcels = [self.parcels[number] for number in part]
        return Task(parcels, self.places, self.force, self.threads, Path.cwd(), begun)

    @staticmethod
    def _submit(executor: object, task: Task) -> Future[list[Reply]]:
        try:
            return executor.submit(work, task)  # type: ignore[attr-defined, no-any-return]
        except BrokenProcessPool as error:  # a worker died while tasks were handed out
            failed: Future[list[Reply]] = Future()
            failed.set_exception(error)
            return failed


def _result(future: Future[list[Reply]]) -> Result:
    try:
        return future.result()
    except BrokenProcessPool:
        return None
    except Exception as error:  # the other parts go on
        return error

"""Cells run from Python: for notebooks, ``dvc repro`` and the theory."""

from __future__ import annotations

import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import joblib

from pipeline.cells.cell import Cell
from pipeline.cells.read import check_writable
from pipeline.cells.runner import Places
from pipeline.results.journal import Run
from pipeline.sweeps.desk import Desk, Say, open_desk, sweep_folder
from pipeline.sweeps.executors import joblib_workers
from pipeline.sweeps.plan import plan, read_cells
from pipeline.sweeps.progress import Bar, Listener, following
from pipeline.sweeps.run import order_of, run


@dataclass(frozen=True)
class Batch:
    """Cells to be run by workers of this machine.

    Attributes:
        cells: what to run.
        values: the config of any of them, for what all share: data, tracking, threads.
        outputs: folder of the results.
        command: what to show as the command.
        n_jobs: processes; −1: one for each core.
        force: compute also what is there already.
    """

    cells: Sequence[Cell]
    values: Mapping[str, Any]
    outputs: Path
    command: str
    n_jobs: int = -1
    force: bool = False


def run_batch(batch: Batch, listener: Listener, warn: Say, again: bool = True) -> list[Run]:
    """Run cells and return what became of each, in their order.

    Args:
        batch: what and how.
        listener: is told of every cell as it ends.
        warn: is told what cannot be logged.
        again: whether cells are logged that an earlier sweep has logged.
    """
    check_writable(batch.outputs)
    values = {**batch.values, "force": batch.force}
    order = order_of(values, joblib_workers(batch.n_jobs), batch.n_jobs)
    order = replace(order, places=Places(batch.outputs.resolve(), order.places.data))
    with _desk(batch, warn, again) as desk:
        try:
            with following(desk.journal, desk.log, listener, desk.prepare):
                run(dict(enumerate(batch.cells)), order, desk.journal)
        except BaseException:
            desk.close(len(batch.cells), killed=True)
            raise
        runs = list(desk.journal.runs())
        desk.close(sum(run.state == "failed" for run in runs))
        untracked = [run.untracked for run in runs if run.untracked]
        if untracked:
            warn(f"{len(untracked)} cells: {untracked[0]}")
    return runs


@contextmanager
def _desk(batch: Batch, warn: Say, again: bool) -> Iterator[Desk]:
    """Yield the desk of a batch; the journal of one that is not tracked goes when it ends."""
    tracked = batch.values["tracking"]["name"] != "none"
    folder = sweep_folder(batch.outputs) if tracked else Path(tempfile.mkdtemp(prefix="onesided-"))
    jobs: list[list[str]] = [[] for _ in batch.cells]
    desk = open_desk(
        folder, batch.outputs, batch.command, jobs, batch.values["tracking"], warn,
        cells=batch.cells, many=len(jobs) > 1, again=again,
    )  # fmt: skip
    try:
        yield desk
    finally:
        if not desk.needed:
            shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True)
class Swept:
    """The cells of a sweep and what became of them.

    Attributes:
        cells: what was asked for.
        runs: what became of each.
        outputs: folder the results are in.
        workers: processes that computed at the same time.
    """

    cells: list[Cell]
    runs: list[Run]
    outputs: Path
    workers: int

    @property
    def failed(self) -> list[Run]:
        """Return the cells that failed."""
        return [run for run in self.runs if run.state == "failed"]


def run_sweep(overrides: Sequence[str], config_dirs: Sequence[Path] = ()) -> Swept:
    """Run the cells of a sweep and log those that MLflow does not know yet.

    Args:
        overrides: as on the command line of ``python -m pipeline.run -m``.
        config_dirs: folders of configs of the user's own.
    """
    jobs = plan(overrides, config_dirs)
    found, broken = read_cells(jobs)
    for error in broken.values():
        raise error
    cells, values = list(found.values()), jobs[0].values
    call = shlex.join(["python", "-m", "pipeline.run", "-m", *overrides])
    batch = Batch(
        cells, values, Path(str(values["outputs"])), call, values["n_jobs"], values["force"]
    )
    runs = run_batch(batch, Bar(len(cells)), _say, again=False)
    return Swept(cells, runs, batch.outputs, joblib.effective_n_jobs(batch.n_jobs))


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)

"""Cells run from Python: for notebooks, ``dvc repro`` and the theory."""

from __future__ import annotations

import shlex
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import joblib

from pipeline.cells.cell import Cell
from pipeline.cells.read import check_writable
from pipeline.results.journal import Run
from pipeline.sweeps.desk import Say, open_desk, sweep_folder
from pipeline.sweeps.executors import joblib_workers
from pipeline.sweeps.plan import plan, read_cells
from pipeline.sweeps.progress import Bar, Listener, following
from pipeline.sweeps.run import order_of, run
from pipeline.terminal import complain


def run_batch(
    cells: Sequence[Cell],
    values: Mapping[str, Any],
    command: str,
    listener: Listener,
    warn: Say,
    again: bool = True,
) -> list[Run]:
    """Run cells by workers of this machine; return what became of each, in their order.

    Args:
        cells: what to run.
        values: the config of any of them, for what all share: outputs, data, tracking, workers.
        command: what to show as the command.
        listener: is told of every cell as it ends.
        warn: is told what cannot be logged.
        again: whether cells are logged that an earlier sweep has logged.
    """
    outputs, tracking = Path(str(values["outputs"])), values["tracking"]
    check_writable(outputs)
    order = order_of({**values, "outputs": outputs.resolve()}, joblib_workers(values["n_jobs"]))
    tracked = tracking["name"] != "none"
    folder = sweep_folder(outputs) if tracked else Path(tempfile.mkdtemp(prefix="onesided-"))
    jobs: list[list[str]] = [[] for _ in cells]
    many = len(jobs) > 1
    desk = open_desk(folder, outputs, command, jobs, tracking, warn, cells, many, again)
    try:
        with following(desk.journal, desk.log, listener, desk.prepare):
            run(dict(enumerate(cells)), order, desk.journal)
        runs = list(desk.journal.runs())
    except BaseException:
        desk.close(len(cells), killed=True)
        raise
    else:
        desk.close(sum(run.state == "failed" for run in runs))
    finally:
        if not desk.needed:  # the journal of what is not tracked goes with it
            shutil.rmtree(folder, ignore_errors=True)
    untracked = [run.untracked for run in runs if run.untracked]
    if untracked:
        warn(f"{len(untracked)} cells: {untracked[0]}")
    return runs


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
    runs = run_batch(cells, values, call, Bar(len(cells)), complain, again=False)
    workers = joblib.effective_n_jobs(values["n_jobs"])
    return Swept(cells, runs, Path(str(values["outputs"])), workers)

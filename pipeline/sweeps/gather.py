"""A whole experiment: planned, run in parts, gathered."""

from __future__ import annotations

import resource
import shlex
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import joblib

from pipeline.cells.cell import Cell
from pipeline.paper.collection import collect
from pipeline.results.journal import Run
from pipeline.results.runs import RunFolder
from pipeline.sweeps.batch import Batch, run_batch
from pipeline.sweeps.plan import plan, read_cells
from pipeline.sweeps.progress import Bar
from pipeline.view.names import name_text


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


def run_and_gather(overrides: Sequence[str], config_dirs: Sequence[Path], out: Path) -> int:
    """Run the cells of a sweep, write their collection; return how many failed.

    Args:
        overrides: as on the command line of ``python -m pipeline.run -m``.
        config_dirs: folders of configs of the user's own.
        out: folder of the collection.
    """
    start = time.perf_counter()
    swept = run_sweep(overrides, config_dirs)
    folders = [
        (run.labels, None if run.folder is None else RunFolder(Path(run.folder)))
        for run in swept.runs
    ]
    collect(folders, swept.outputs).write(out)
    failed = swept.failed
    for run in failed:
        print(f"FAILED {name_text(run.labels)}: {run.reason}", file=sys.stderr)
    print(_account(swept, time.perf_counter() - start))
    print(f"gathered: {out}")
    return len(failed)


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


def _account(swept: Swept, seconds: float) -> str:
    """Return what was done, in how much time and memory.

    Every worker is counted as if it had been as large as the largest.
    """
    computed = [swept.cells[run.number] for run in swept.runs if run.state == "computed"]
    own, largest_child = (
        resource.getrusage(who).ru_maxrss / 2**20
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    memory = own + swept.workers * largest_child
    return (
        f"{len(swept.runs)} cells, {len(computed)} computed now: {sum(map(_lanes, computed)):,} "
        f"online runs in {seconds / 60:.1f} minutes; at most {memory:.2f} GiB in all processes"
    )


def _lanes(cell: Cell) -> int:
    return len(cell.alphas) * len(cell.splits)

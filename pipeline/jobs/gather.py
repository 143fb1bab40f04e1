"""A whole experiment: planned, run in blocks, gathered."""

from __future__ import annotations

import resource
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import joblib

from pipeline.jobs.blocks import run_blocks
from pipeline.jobs.cell import Cell, make_cell
from pipeline.jobs.early import check_machine, check_writable
from pipeline.jobs.lines import name_text
from pipeline.jobs.logbook import log_new
from pipeline.jobs.plan import plan
from pipeline.jobs.runner import Run
from pipeline.jobs.task import places_of
from pipeline.paper.collection import collect


@dataclass(frozen=True)
class Swept:
    """The cells of a sweep that ran in blocks.

    Attributes:
        runs: what became of each cell.
        outputs: folder the results are in.
        workers: processes that computed at the same time.
    """

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
    folders = [(run.cell.labels, run.folder) for run in swept.runs]
    collect(folders, swept.outputs).write(out)
    failed = swept.failed
    for run in failed:
        print(f"FAILED {name_text(run.cell.labels)}: {run.reason}", file=sys.stderr)
    print(_account(swept, time.perf_counter() - start))
    print(f"gathered: {out}")
    return len(failed)


def run_sweep(overrides: Sequence[str], config_dirs: Sequence[Path] = ()) -> Swept:
    """Run the cells of a sweep in blocks and log those that MLflow does not know yet.

    Args:
        overrides: as on the command line of ``python -m pipeline.run -m``.
        config_dirs: folders of configs of the user's own.
    """
    jobs = plan(overrides, config_dirs)
    cells = [make_cell(job.values, job.config_dirs) for job in jobs]
    values = jobs[0].values
    check_machine(values)
    places = places_of(values)
    check_writable(places.outputs)
    runs = run_blocks(cells, places, values["n_jobs"], values["force"], teller(len(cells)))
    call = shlex.join(["python", "-m", "pipeline.run", "-m", *overrides])
    log_new(runs, values["tracking"], places.outputs, call, _say)
    return Swept(runs, places.outputs, joblib.effective_n_jobs(values["n_jobs"]))


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def teller(total: int) -> Callable[[int, Run], None]:
    """Return a function that prints a line for each cell as it ends."""
    ended = 0

    def tell(_: int, run: Run) -> None:
        nonlocal ended
        ended += 1
        state = f"{run.seconds:.1f} s" if run.state == "computed" else run.state
        done = f"[{ended:{len(str(total))}}/{total}]"
        print(f"{done} {name_text(run.cell.labels):40} {state}", file=sys.stderr, flush=True)

    return tell


def _account(swept: Swept, seconds: float) -> str:
    """Return what was done, in how much time and memory.

    Every worker is counted as if it had been as large as the largest.
    """
    computed = [run.cell for run in swept.runs if run.state == "computed"]
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

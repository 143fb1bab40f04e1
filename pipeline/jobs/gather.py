"""A whole experiment: planned, run in blocks, gathered."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from pipeline.jobs.blocks import run_blocks
from pipeline.jobs.cell import Cell, make_cell
from pipeline.jobs.early import check_writable
from pipeline.jobs.lines import name_text
from pipeline.jobs.plan import plan
from pipeline.jobs.runner import Run
from pipeline.jobs.task import places_of
from pipeline.paper.collection import collect


def run_and_gather(overrides: Sequence[str], config_dirs: Sequence[Path], out: Path) -> int:
    """Run the cells of a sweep, write their collection; return how many failed.

    Args:
        overrides: as on the command line of ``python -m pipeline.run -m``.
        config_dirs: folders of configs of the user's own.
        out: folder of the collection.
    """
    start = time.perf_counter()
    jobs = plan(overrides, config_dirs)
    cells = [make_cell(job.values, job.config_dirs) for job in jobs]
    values = jobs[0].values
    places = places_of(values)
    check_writable(places.outputs)
    runs = run_blocks(cells, places, values["n_jobs"], values["force"], teller(len(cells)))
    folders = [(run.cell.labels, run.folder) for run in runs]
    collect(folders, places.outputs).write(out)
    failed = [run for run in runs if run.state == "failed"]
    for run in failed:
        print(f"FAILED {name_text(run.cell.labels)}: {run.reason}", file=sys.stderr)
    print(_account(runs, time.perf_counter() - start))
    print(f"gathered: {out}")
    return len(failed)


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


def _account(runs: Sequence[Run], seconds: float) -> str:
    """Return what was done, in how much time and memory."""
    computed = [run.cell for run in runs if run.state == "computed"]
    who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    largest = max(resource.getrusage(one).ru_maxrss for one in who) / 2**20
    return (
        f"{len(runs)} cells, {len(computed)} computed now: {sum(map(_lanes, computed)):,} online "
        f"runs in {seconds / 60:.1f} minutes; largest process {largest:.2f} GiB"
    )


def _lanes(cell: Cell) -> int:
    return len(cell.alphas) * len(cell.splits)

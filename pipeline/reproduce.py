"""Run a whole experiment and gather its results for tables and figures.

The run folders are those of ``python -m pipeline.run -m …``, byte by byte: what is there is not
computed again. Exit code: 0 if every cell is done, 1 if not, 2 if the request makes no sense.

Examples:
    python -m pipeline.reproduce experiment=table1 --out outputs/table1
    python -m pipeline.reproduce experiment=paper link=linear --out outputs/linear
    python -m pipeline.reproduce experiment=fresh n_jobs=2 --out outputs/fresh
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.command_line import FAILED, REFUSED, add_overrides, guarded, name_of, parser_of
from pipeline.terminal import any_terminal, complain

if TYPE_CHECKING:
    from pipeline.sweeps.batch import Swept

MODULE = "pipeline.reproduce"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line asks for; return the exit code."""
    any_terminal()
    parser = parser_of(MODULE, str(__doc__))
    add_overrides(parser)
    parser.add_argument(
        "--out", type=Path, required=True, metavar="FOLDER", help="folder of the gathered results"
    )
    given = parser.parse_intermixed_args(arguments)
    folders = [given.config_dir] if given.config_dir else []

    from pipeline.sweeps.hydra_errors import NONSENSE, explain_request

    return guarded(
        lambda: FAILED if run_and_gather(given.overrides, folders, given.out) else 0,
        dict.fromkeys(NONSENSE, REFUSED),
        explain_request,
        prefix=f"{name_of(MODULE)}: ",
    )


def run_and_gather(overrides: Sequence[str], config_dirs: Sequence[Path], out: Path) -> int:
    """Run the cells of a sweep, write their collection; return how many failed.

    Args:
        overrides: as on the command line of ``python -m pipeline.run -m``.
        config_dirs: folders of configs of the user's own.
        out: folder of the collection.
    """
    from pipeline.paper.collection import gather
    from pipeline.sweeps.batch import run_sweep
    from pipeline.view.names import name_text

    start = time.perf_counter()
    swept = run_sweep(overrides, config_dirs)
    gather(swept.runs, swept.outputs).write(out)
    failed = swept.failed
    for run in failed:
        complain(f"FAILED {name_text(run.labels)}: {run.reason}")
    print(_account(swept, time.perf_counter() - start))
    print(f"gathered: {out}")
    return len(failed)


def _account(swept: Swept, seconds: float) -> str:
    """Return what was done, in how much time and memory.

    Every worker is counted as if it had been as large as the largest.
    """
    computed = [swept.cells[run.number] for run in swept.runs if run.state == "computed"]
    lanes = sum(len(cell.alphas) * len(cell.splits) for cell in computed)
    own, largest_child = (
        resource.getrusage(who).ru_maxrss / 2**20
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    memory = own + swept.workers * largest_child
    return (
        f"{len(swept.runs)} cells, {len(computed)} computed now: {lanes:,} "
        f"online runs in {seconds / 60:.1f} minutes; at most {memory:.2f} GiB in all processes"
    )


if __name__ == "__main__":
    sys.exit(main())

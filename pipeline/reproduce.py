"""Run a whole experiment and gather its results for tables and figures.

The run folders are those of ``python -m pipeline.run -m …``, byte by byte: what is there is not
computed again. Exit code: 0 if every cell is done, 1 if not, 2 if the request makes no sense.

Examples:
    python -m pipeline.reproduce experiment=table1 --out outputs/table1
    python -m pipeline.reproduce experiment=paper link=linear --out outputs/linear
    python -m pipeline.reproduce experiment=fresh n_jobs=2 --out outputs/fresh
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from pipeline.command_line import FAILED, REFUSED, add_overrides, guarded, name_of, parser_of
from pipeline.terminal import any_terminal

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

    from pipeline.sweeps.gather import run_and_gather
    from pipeline.sweeps.hydra_errors import NONSENSE, explain_request

    return guarded(
        lambda: FAILED if run_and_gather(given.overrides, folders, given.out) else 0,
        dict.fromkeys(NONSENSE, REFUSED),
        explain_request,
        prefix=f"{name_of(MODULE)}: ",
    )


if __name__ == "__main__":
    sys.exit(main())

"""Run a whole experiment in blocks and gather its results for tables and figures.

    python -m pipeline.reproduce experiment=paper link=linear --out outputs/paper/linear

The run folders are those of ``python -m pipeline.run -m …``, byte by byte; cells that share data
are computed together, which spares a thousand start-ups. Exit code: 0 if every cell is done, 1 if
not, 2 if the request makes no sense.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from pipeline.terminal import any_terminal

DONE, INCOMPLETE, REFUSED = 0, 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line asks for; return the exit code."""
    any_terminal()
    parser = argparse.ArgumentParser(
        prog="python -m pipeline.reproduce",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("overrides", nargs="*", help="as for python -m pipeline.run -m")
    parser.add_argument("--config-dir", type=Path, help="folder of configs of your own")
    parser.add_argument("--out", type=Path, required=True, help="folder of the gathered results")
    given = parser.parse_intermixed_args(arguments)
    folders = [given.config_dir] if given.config_dir else []
    try:
        return INCOMPLETE if _reproduce(given.overrides, folders, given.out) else DONE
    except KeyboardInterrupt:
        print("stopped; run the same command again to go on", file=sys.stderr)
        return 130


def _reproduce(overrides: Sequence[str], config_dirs: Sequence[Path], out: Path) -> int:
    from hydra.errors import HydraException

    from pipeline.cells.errors import ConfigError, explain
    from pipeline.sweeps.gather import run_and_gather
    from pipeline.sweeps.hydra_errors import explain_hydra

    try:
        return run_and_gather(overrides, config_dirs, out)
    except (HydraException, ConfigError, OSError) as error:
        print(f"pipeline.reproduce: {explain_hydra(error) or explain(error)}", file=sys.stderr)
        sys.exit(REFUSED)


if __name__ == "__main__":
    sys.exit(main())

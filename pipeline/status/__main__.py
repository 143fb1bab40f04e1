"""What of a sweep is done, failed or missing, and the command that fills the gaps.

    python -m pipeline.status experiment=paper          a sweep, cell by cell
    python -m pipeline.status method=ours,margin cutoff=0.5,0.7
    python -m pipeline.status                           whatever is in outputs/

Exit code: 0 if everything is done, 1 if not, 2 if the request makes no sense.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from pipeline.terminal import any_terminal

DONE, INCOMPLETE, REFUSED = 0, 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the status of a sweep, or of all there is; return the exit code."""
    any_terminal()
    parser = argparse.ArgumentParser(
        prog="python -m pipeline.status",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("overrides", nargs="*", help="as for python -m pipeline.run -m")
    parser.add_argument("--config-dir", type=Path, help="folder of configs of your own")
    parser.add_argument("-m", "--multirun", action="store_true", help="understood, not needed")
    given = parser.parse_intermixed_args(arguments)
    try:
        return _status(given.overrides, given.config_dir)
    except BrokenPipeError:  # | head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return INCOMPLETE


def _status(overrides: Sequence[str], config_dir: Path | None) -> int:
    from hydra.errors import HydraException

    from pipeline.cells.errors import ConfigError, explain
    from pipeline.status.standing import names_cells, report_all, report_sweep
    from pipeline.sweeps.hydra_errors import explain_hydra

    try:
        report = report_sweep if names_cells(overrides) else report_all
        complete = report(overrides, config_dir)
    except (HydraException, ConfigError) as error:
        line = explain_hydra(error, overrides) or explain(error)
        print(f"pipeline.status: {line}", file=sys.stderr)
        return REFUSED
    return DONE if complete else INCOMPLETE


if __name__ == "__main__":
    sys.exit(main())

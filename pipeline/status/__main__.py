"""What of a sweep is done, failed or missing, and the command that fills the gaps.

Exit code: 0 if everything is done, 1 if not, 2 if the request makes no sense.

Examples:
    python -m pipeline.status experiment=paper    a sweep, cell by cell
    python -m pipeline.status method=ours,margin cutoff=0.5,0.7
    python -m pipeline.status                     whatever is in outputs/
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from pipeline.command_line import FAILED, REFUSED, add_overrides, guarded, name_of, parser_of
from pipeline.terminal import any_terminal

MODULE = "pipeline.status"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the status of a sweep, or of all there is; return the exit code."""
    any_terminal()
    parser = parser_of(MODULE, str(__doc__))
    add_overrides(parser)
    parser.add_argument("-m", "--multirun", action="store_true", help="understood, not needed")
    given = parser.parse_intermixed_args(arguments)

    from pipeline.sweeps.hydra_errors import NONSENSE, explain_request

    return guarded(
        lambda: _status(given.overrides, given.config_dir),
        dict.fromkeys(NONSENSE, REFUSED),
        lambda error: explain_request(error, given.overrides),
        prefix=f"{name_of(MODULE)}: ",
    )


def _status(overrides: Sequence[str], config_dir: Path | None) -> int:
    from pipeline.status.standing import names_cells, report_all, report_sweep

    report = report_sweep if names_cells(overrides) else report_all
    return 0 if report(overrides, config_dir) else FAILED


if __name__ == "__main__":
    sys.exit(main())

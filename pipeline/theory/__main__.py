"""What the paper proves, measured.

A command runs the cells of its experiment that are not there yet and writes what they show: CSV,
Markdown (and the same page as JSON, for the report) and figures.

Examples:
    python -m pipeline.theory trap --out outputs/paper/theory/trap
    python -m pipeline.theory rates --out outputs/rates alpha=0.5
    python -m pipeline.theory trap --out outputs/small dataset.n=1000
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from pipeline.command_line import FAILED, choose, guarded
from pipeline.terminal import any_terminal
from pipeline.theory.driver import EXPERIMENTS, add_options, run

OLD_NAMES = {"sgd_figures": "sgd"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return the exit code."""
    any_terminal()
    given = sys.argv[1:] if arguments is None else list(arguments)
    given[:1] = [OLD_NAMES.get(word, word) for word in given[:1]]
    name, parser, words = choose("pipeline.theory", str(__doc__), EXPERIMENTS, given)
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="to write to")
    add_options(parser, name)
    options = parser.parse_args(words)

    from pipeline.sweeps.hydra_errors import NONSENSE, explain_request

    return guarded(lambda: _run(name, options), dict.fromkeys(NONSENSE, FAILED), explain_request)


def _run(name: str, options: argparse.Namespace) -> int:
    start = time.perf_counter()
    for line in run(name, options):
        print(line, flush=True)
    print(f"{name} took {time.perf_counter() - start:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())

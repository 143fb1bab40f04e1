"""What the paper proves, measured: ``python -m pipeline.theory trap|rates|…``.

A command runs the cells of its experiment that are not there yet and writes what they show: CSV,
Markdown (and the same page as JSON, for the report) and figures.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from pipeline.terminal import any_terminal
from pipeline.theory.driver import EXPERIMENTS, add_options, run

OUT = "outputs/paper/theory"
EXAMPLES = "\n".join(
    [
        "examples:",
        *(f"  python -m pipeline.theory {name} --out {OUT}/{name}" for name in EXPERIMENTS),
    ]
)
OLD_NAMES = {"sgd_figures": "sgd"}


def parser(chosen: str | None = None) -> argparse.ArgumentParser:
    """Return the parser of the command line; only the chosen command has its own options."""
    top = argparse.ArgumentParser(
        prog="python -m pipeline.theory",
        description=__doc__,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    actions = top.add_subparsers(dest="command", required=True, metavar="command")
    for name, purpose in EXPERIMENTS.items():
        action = actions.add_parser(name, help=purpose, description=purpose)
        action.add_argument("--out", type=Path, required=True, help="folder to write to")
        if name == chosen:
            add_options(action, name)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return the exit code."""
    any_terminal()
    given = sys.argv[1:] if arguments is None else list(arguments)
    given[:1] = [OLD_NAMES.get(word, word) for word in given[:1]]
    chosen = next((word for word in given if word in EXPERIMENTS), None)
    options = parser(chosen).parse_args(given)
    start = time.perf_counter()
    try:
        for line in run(options.command, options):
            print(line, flush=True)
        print(f"{options.command} took {time.perf_counter() - start:.1f} s")
    except KeyboardInterrupt:
        print("stopped; run the same command again to go on", file=sys.stderr)
        return 130
    except BrokenPipeError:  # `… | head`
        sys.stderr.close()
        return 1
    except Exception as error:
        said = _one_line(error)
        if said is None:
            raise
        print(f"error: {said}", file=sys.stderr)
        return 1
    return 0


def _one_line(error: Exception) -> str | None:
    """Return what is wrong with the request or the data; None for a mistake of the program."""
    from hydra.errors import HydraException

    from pipeline.cells.errors import explain
    from pipeline.sweeps.hydra_errors import explain_hydra

    if isinstance(error, HydraException):
        return explain_hydra(error)
    return explain(error) if isinstance(error, ValueError | OSError) else None


if __name__ == "__main__":
    sys.exit(main())

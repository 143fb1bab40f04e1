"""Learning when only one side of the story is seen: sweeps, their results, the paper.

Each command is a module too: onesided run is python -m pipeline.run.

Examples:
    python -m pipeline run -m method=ours,margin cutoff=0.5,0.7
    python -m pipeline status experiment=table1
    python -m pipeline data describe adult
    python -m pipeline run --help
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

from pipeline.command_line import choose
from pipeline.terminal import any_terminal

COMMANDS = {
    "run": ("pipeline.run", "compute one cell, or with -m a sweep of many"),
    "status": ("pipeline.status.__main__", "what of a sweep is done, failed or missing"),
    "sync": ("pipeline.sync", "log what MLflow has missed"),
    "ui": ("pipeline.tracking.ui", "open MLflow's pages on this machine"),
    "data": ("pipeline.data.__main__", "the datasets: list, fetch, check, describe"),
    "reproduce": ("pipeline.reproduce", "run an experiment and gather its results for the paper"),
    "paper": ("pipeline.paper.__main__", "tables, figures and report from gathered results"),
    "theory": ("pipeline.theory.__main__", "what the paper proves, measured"),
}


def main() -> int | None:
    """Run the command that the first word names, as ``python -m`` would; list them if none."""
    any_terminal()
    called = Path(sys.argv[0]).name
    sys.argv[0] = called if called == "onesided" else "python -m pipeline"
    purposes = {name: purpose for name, (_, purpose) in COMMANDS.items()}
    name, _, rest = choose("pipeline", str(__doc__), purposes, sys.argv[1:] or ["--help"])
    sys.argv = [f"{sys.argv[0]} {name}", *rest]
    code: int | None = import_module(COMMANDS[name][0]).main()
    return code


if __name__ == "__main__":
    sys.exit(main())

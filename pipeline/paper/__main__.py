r"""The paper from results that python -m pipeline.reproduce has gathered.

Examples:
    python -m pipeline.paper tables --only table1 \
        --collection outputs/paper/linear --out outputs/tables
    python -m pipeline.paper compare --out outputs/compare \
        --collection outputs/paper/linear outputs/paper/logistic
    python -m pipeline.paper report --out outputs/report \
        --collection outputs/paper/linear outputs/paper/logistic \
        --theory outputs/paper/theory
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from pipeline.command_line import FAILED, choose, guarded
from pipeline.paper.collection import Collection, CollectionError, merge
from pipeline.paper.commands import COMMANDS
from pipeline.paper.published import PublishedError
from pipeline.terminal import any_terminal


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return the exit code."""
    any_terminal()
    given = sys.argv[1:] if arguments is None else arguments
    purposes = {name: str(command.run.__doc__) for name, command in COMMANDS.items()}
    name, parser, words = choose("pipeline.paper", str(__doc__), purposes, given)
    parser.add_argument(
        "--collection",
        type=Path,
        nargs="+",
        required=True,
        metavar="FOLDER",
        help="with cells.csv, losses.parquet and curves.parquet; several are joined",
    )
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="to write to")
    parser.add_argument("--protocol", help="where a collection has several")
    for option, how in COMMANDS[name].options.items():
        parser.add_argument(option, **how)
    options = parser.parse_args(words)
    return guarded(lambda: _run(name, options), {CollectionError: FAILED, PublishedError: FAILED})


def _run(name: str, options: argparse.Namespace) -> int:
    start = time.perf_counter()
    collection = one_protocol(merge(map(Collection.read, options.collection)), options.protocol)
    for line in COMMANDS[name].run(collection, options):
        print(line)
    print(f"{name} took {time.perf_counter() - start:.1f} s")
    return 0


def one_protocol(collection: Collection, wanted: str | None) -> Collection:
    """Return the results of the wanted protocol, or of the only one there is."""
    found = collection.protocols
    if wanted is None and len(found) == 1:
        return collection
    if wanted in found:
        return collection.of(str(wanted))
    names = ", ".join(found) or "none"
    raise CollectionError(f"name one --protocol that has results; there are: {names}")


if __name__ == "__main__":
    sys.exit(main())

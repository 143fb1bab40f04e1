"""The paper from collected results: ``python -m pipeline.paper tables|compare|…``."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from pipeline.paper.collection import Collection, CollectionError, merge
from pipeline.paper.commands import COMMANDS
from pipeline.paper.published import PublishedError
from pipeline.terminal import any_terminal

EXAMPLES = """examples:
  python -m pipeline.paper tables --collection outputs/paper/inferred --out outputs/paper/tables
  python -m pipeline.paper tables --only table1 table2 \\
      --collection outputs/paper/stated --out outputs/paper/tables_stated
  python -m pipeline.paper compare \\
      --collection outputs/paper/inferred --out outputs/paper/comparison
  python -m pipeline.paper figures --collection outputs/paper/inferred --out outputs/paper/figures
  python -m pipeline.paper hindsight --fresh outputs/paper/fresh \\
      --collection outputs/paper/inferred --out outputs/paper/hindsight
  python -m pipeline.paper report --stated outputs/paper/stated \\
      --hindsight outputs/paper/hindsight --theory outputs/paper/theory \\
      --collection outputs/paper/inferred --out outputs/report"""


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    top = argparse.ArgumentParser(
        prog="python -m pipeline.paper",
        description=__doc__,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    actions = top.add_subparsers(dest="command", required=True, metavar="command")
    for name, command in COMMANDS.items():
        action = actions.add_parser(name, help=command.run.__doc__, description=command.run.__doc__)
        action.add_argument(
            "--collection",
            type=Path,
            nargs="+",
            required=True,
            help="folder with cells.csv, losses.parquet and curves.parquet; several are joined",
        )
        action.add_argument("--out", type=Path, required=True, help="folder to write to")
        action.add_argument("--protocol", help="where a collection has several")
        for option, how in command.options.items():
            action.add_argument(option, **how)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return the exit code."""
    any_terminal()
    options = parser().parse_args(arguments)
    start = time.perf_counter()
    try:
        collection = one_protocol(merge(map(Collection.read, options.collection)), options.protocol)
        for line in COMMANDS[options.command].run(collection, options):
            print(line)
        print(f"{options.command} took {time.perf_counter() - start:.1f} s")
    except (CollectionError, PublishedError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # `… | head`
        sys.stderr.close()
        return 1
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

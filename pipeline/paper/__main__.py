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
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pipeline.command_line import FAILED, choose, guarded
from pipeline.files import write_text
from pipeline.paper.collection import Collection, CollectionError, merge
from pipeline.paper.comparison.compare import compare
from pipeline.paper.comparison.page import headline, write_comparison
from pipeline.paper.figures import draw_figures
from pipeline.paper.hindsight.held_out import joined
from pipeline.paper.hindsight.page import write_hindsight
from pipeline.paper.published import layout
from pipeline.paper.report.content import report_data
from pipeline.paper.report.write import render
from pipeline.paper.tables import write_tables
from pipeline.terminal import any_terminal
from pipeline.view.names import row_name


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return the exit code."""
    any_terminal()
    given = sys.argv[1:] if arguments is None else arguments
    purposes = {name: str(command.__doc__) for name, command in COMMANDS.items()}
    name, parser, words = choose("pipeline.paper", str(__doc__), purposes, given)
    for option, how in (OF_ALL | OPTIONS.get(name, {})).items():
        parser.add_argument(option, **how)
    options = parser.parse_args(words)
    return guarded(lambda: _run(name, options), {CollectionError: FAILED})


def _run(name: str, options: argparse.Namespace) -> int:
    start = time.perf_counter()
    collection = one_protocol(merge(map(Collection.read, options.collection)), options.protocol)
    for line in COMMANDS[name](collection, options):
        print(line)
    print(f"{name} took {time.perf_counter() - start:.1f} s")
    return 0


def one_protocol(collection: Collection, wanted: str | None) -> Collection:
    """Return the results of the wanted protocol, or of the only one there is."""
    found = collection.protocols
    if wanted in found or (wanted is None and len(found) == 1):
        return collection.of(wanted or found[0])
    names = ", ".join(found) or "none"
    raise CollectionError(f"name one --protocol that has results; there are: {names}")


def tables(collection: Collection, options: argparse.Namespace) -> Iterable[str]:
    """Write the paper's tables from collected results."""
    commands = write_tables(collection, options.out, options.only)
    yield f"tables:   {options.out}"
    failed = collection.cells[collection.cells["state"] == "failed"]
    for cell in failed.to_dict("records"):
        name = row_name(cell["link"], cell["dataset"], cell["cutoff"])
        yield f"failed:   {name}, {cell['method']}: {cell['reason']}"
    yield from _to_fill("cells", commands)


def comparison(collection: Collection, options: argparse.Namespace) -> Iterable[str]:
    """Compare collected results with the paper's figures."""
    found = compare(collection)
    commands = write_comparison(found, options.out, collection.protocol)
    yield from headline(found)
    yield f"comparison: {options.out}"
    yield from _to_fill("cells", commands)


def figures(collection: Collection, options: argparse.Namespace) -> Iterable[str]:
    """Draw the paper's figures, and loss against alpha, from collected results."""
    draw_figures(collection, options.out)
    yield f"figures:  {options.out}"


def hindsight(collection: Collection, options: argparse.Namespace) -> Iterable[str]:
    """Show what tuning alpha in hindsight is worth."""
    if options.fresh is not None:
        fresh = Collection.read(options.fresh).of(collection.protocol)
        collection = joined(collection, fresh)
    commands = write_hindsight(collection, options.out)
    yield f"hindsight: {options.out}"
    yield from _to_fill("splits", commands)


def report(collection: Collection, options: argparse.Namespace) -> Iterable[str]:
    """Write the report: one page with all tables, curves and comparisons, to open offline."""
    stated = merge(map(Collection.read, options.stated)) if options.stated else None
    if stated is not None and len(stated.protocols) != 1:
        names = ", ".join(stated.protocols) or "none"
        raise CollectionError(f"--stated: expected results of one protocol, there are: {names}")
    data = report_data(collection, stated, options.hindsight, options.outputs, options.out)
    path = options.out / "index.html"
    write_text(path, render(data, options.theory))
    yield f"report:   {path} ({path.stat().st_size / 1e6:.1f} MB)"


def _to_fill(what: str, commands: Sequence[str]) -> Iterable[str]:
    if commands:
        yield f"{what} are missing; to fill them:"
        yield from (f"  {line}" for line in commands)


def _option(about: str, metavar: str = "FOLDER", **more: Any) -> dict[str, Any]:
    return {"type": Path if metavar == "FOLDER" else str, "metavar": metavar, "help": about, **more}


# Each writes files to ``options.out`` and yields the lines to print; its docstring is the help.
COMMANDS = {
    "tables": tables,
    "compare": comparison,
    "figures": figures,
    "hindsight": hindsight,
    "report": report,
}
TABLES = list(layout())
FILES = "with cells.csv, losses.parquet and curves.parquet; several are joined"
OF_ALL = {
    "--collection": _option(FILES, nargs="+", required=True),
    "--out": _option("to write to", required=True),
    "--protocol": {"help": "where a collection has several"},
}
OPTIONS = {
    "tables": {
        "--only": _option(
            f"some of {', '.join(TABLES)}", "TABLE", nargs="+", default=(), choices=TABLES
        )
    },
    "hindsight": {"--fresh": _option("folder of collected results on splits 10-19")},
    "report": {
        "--stated": _option(
            "collected results of Tables 1 and 2 under the other protocol", nargs="+"
        ),
        "--hindsight": _option("what `python -m pipeline.paper hindsight` wrote"),
        "--theory": _option("folder of what the commands of `python -m pipeline.theory` wrote"),
        "--outputs": _option(
            "folder with the run folders, for links and environments (default: outputs)",
            default=Path("outputs"),
        ),
    },
}

if __name__ == "__main__":
    sys.exit(main())

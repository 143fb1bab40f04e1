"""Datasets: what there is, where it is, whether it is right.

Examples:
    python -m pipeline.data list
    python -m pipeline.data fetch all
    python -m pipeline.data check --source mirror --mirror raw_files
    python -m pipeline.data describe adult --link logistic
    python -m pipeline.data describe loans.csv --target repaid --group sex
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pipeline.command_line import FAILED, choose, guarded, read_settings
from pipeline.data.dataset import check as check_dataset
from pipeline.data.dataset import encode
from pipeline.data.errors import DataError, UnavailableError
from pipeline.data.sources import MIRROR, SOURCES, Mirror, Settings, find_table
from pipeline.data.sources.find import place_of, table_from
from pipeline.data.sources.kept import Raw
from pipeline.data.spec import DatasetSpec, Table, dataset_names, read_spec
from pipeline.files import conf_dir
from pipeline.terminal import any_terminal

PROTOCOLS = ("inferred", "stated")
LINKS = ("linear", "logistic", "probit")
LINKED = ("glm", "greedy_trap")  # the link is part of these datasets
COLUMNS = ("target", "group", "drop")
OWN = ("target", "positive", "negative", "above", "group", "drop", "separator")
HEADER = ("dataset", "rows", "columns", "positives", "source", "now", "licence")
PURPOSES = {
    "list": "the ten datasets and where they are now",
    "fetch": "write the raw tables to data/raw",
    "check": "check every dataset's values",
    "describe": "one dataset, and a picture of its true scores",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return the exit code."""
    any_terminal()
    name, options = parse(sys.argv[1:] if arguments is None else arguments)
    sources = Settings.of(mirror=options.mirror, offline=options.offline)
    return guarded(lambda: COMMANDS[name](options, sources), {DataError: FAILED, OSError: FAILED})


def parse(arguments: Sequence[str]) -> tuple[str, argparse.Namespace]:
    """Return which command is asked for, and its options."""
    name, parser, words = choose("pipeline.data", str(__doc__), PURPOSES, arguments)
    _add_options(parser, name)
    return name, parser.parse_args(words)


def _add_options(parser: argparse.ArgumentParser, command: str) -> None:
    parser.add_argument(
        "--mirror", type=Path, metavar="FOLDER", help="of raw files ($ONESIDED_DATA_MIRROR)"
    )
    parser.add_argument("--offline", action="store_true", help="never use the network")
    parser.add_argument("--protocol", choices=PROTOCOLS, help="reading of the paper")
    if command == "fetch":
        parser.add_argument("names", nargs="+", metavar="NAME", help="datasets, or all")
    if command == "check":
        parser.add_argument("--source", choices=SOURCES, help="take the tables from there only")
    if command == "describe":
        _add_options_of_describe(parser)


def _add_options_of_describe(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="a dataset, or a CSV or parquet file")
    parser.add_argument("--link", choices=LINKS, help="link of β* (linear)")
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="the picture (outputs/data/<name>….png)"
    )
    table = parser.add_argument_group("of your own table")
    abouts = {one.key: one.about for one in read_settings(conf_dir() / "dataset" / "csv.yaml")}
    abouts["drop"] = "a column to leave out; may be given several times"
    for option in OWN:
        action = "append" if option == "drop" else "store"
        metavar = "COLUMN" if option in COLUMNS else "VALUE"
        table.add_argument(f"--{option}", action=action, metavar=metavar, help=abouts[option])


def run_list(options: argparse.Namespace, settings: Settings) -> int:
    """Print the table of datasets."""
    rows = list(list_rows(options.protocol or PROTOCOLS[0], settings))
    print("\n".join(aligned(rows, right=(1, 2, 3))))
    return 0


def run_fetch(options: argparse.Namespace, settings: Settings) -> int:
    """Write tables to data/raw; one that cannot be had does not stop the others."""
    names = dataset_names() if options.names == ["all"] else options.names
    specs = [read_spec(name) for name in names]
    protocols = [options.protocol] if options.protocol else PROTOCOLS
    failed = 0
    for spec in specs:
        try:
            for line in fetch(spec, protocols, settings):
                print(line, flush=True)
        except BrokenPipeError:
            raise
        except (DataError, OSError) as error:
            failed += 1
            print(f"error: {spec.name}: {error}", file=sys.stderr)
    return 1 if failed else 0


def run_check(options: argparse.Namespace, settings: Settings) -> int:
    """Check all that is here, under both protocols if none is named."""
    if options.source == Mirror.name and settings.mirror is None:
        raise DataError(f"no mirror is set: --mirror FOLDER, or ${MIRROR}")
    protocols = [options.protocol] if options.protocol else PROTOCOLS
    states, lines = [], []
    for name in dataset_names():
        for protocol in protocols:
            state, cells = check(name, protocol, settings, options.source)
            states.append(state)
            lines.append(cells)
    header = ("dataset", "protocol", "rows", "columns", "positives", "hash", "state")
    print("\n".join(aligned([header, *lines], right=(2, 3, 4))))
    counts = {state: states.count(state) for state in ("ok", "absent", "BAD")}
    print(", ".join(f"{count} {state}" for state, count in counts.items() if count))
    return 1 if counts["BAD"] else 0


def run_describe(options: argparse.Namespace, settings: Settings) -> int:
    """Print what a dataset holds and draw its true scores."""
    from pipeline.data.describe import check_picture, describe, draw_scores, find, true_scores

    if options.output is not None:
        check_picture(options.output)
    own: dict[str, Any] = {
        key: getattr(options, key) for key in OWN if getattr(options, key) is not None
    }
    link = options.link or LINKS[0]
    protocol = options.protocol or PROTOCOLS[0]
    if options.name in LINKED and options.link:
        own["link"] = options.link
    dataset, missing = find(options.name, protocol, settings, own)
    scores = true_scores(dataset, link)
    print("\n".join(describe(dataset, missing, scores)))
    path = options.output or Path(f"outputs/data/{dataset.name}_{dataset.protocol}_{link}.png")
    draw_scores(scores, path)
    print(f"picture   {path}")
    return 0


def list_rows(protocol: str, settings: Settings) -> Iterator[Sequence[str]]:
    """Yield the cells of the table of datasets, the header first."""
    yield HEADER
    for name in dataset_names():
        spec = read_spec(name)
        recipe = spec.recipe(protocol)
        expect, table = recipe.expect, spec.tables[recipe.table]
        share = f"{expect.positives:,} ({expect.positives / expect.rows:.0%})"
        figures = (f"{expect.rows:,}", str(expect.columns), share)
        now = place_of(recipe.table, table, settings)
        yield (name, *figures, origin(spec, table), now, spec.licence)


def origin(spec: DatasetSpec, table: Table) -> str:
    """Return where a table was published, in a few letters."""
    if table.openml is not None:
        return f"OpenML {table.openml.data_id}"
    host = urlsplit(spec.homepage).netloc
    short = {"archive.ics.uci.edu": "UCI", "github.com": "GitHub", "www.openml.org": "OpenML"}
    return short.get(host, host)


def aligned(rows: Sequence[Sequence[str]], right: Sequence[int]) -> Iterator[str]:
    """Yield rows as lines of columns; those in ``right`` are set to the right."""
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    for row in rows:
        cells = [
            cell.rjust(width) if place in right else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()


def fetch(spec: DatasetSpec, protocols: Sequence[str], settings: Settings) -> Iterator[str]:
    """Write the raw tables that the protocols of a dataset need; yield a line about each."""
    raw = Raw(settings.raw)
    for key in dict.fromkeys(spec.recipe(protocol).table for protocol in protocols):
        table = spec.tables[key]
        frame, source = find_table(key, table, settings)
        if source != Raw.name:
            raw.keep(key, table, frame)
        rows, columns = frame.shape
        path = raw.path(key, table)
        shape = f"{rows:>6,} rows × {columns:>3} raw columns"
        size = f"{path.stat().st_size / 1000:,.0f} kB"
        yield f"{spec.name:10}  {shape} from {source:7} -> {path} ({size})"


def check(
    name: str, protocol: str, settings: Settings, source: str | None = None
) -> tuple[str, Sequence[str]]:
    """Return "ok", "absent" or "BAD", and the cells of a line about a dataset.

    Args:
        name: of the dataset.
        protocol: of the dataset.
        settings: of the sources; no network is used, unless ``source`` is one that needs it.
        source: where to take the table from; None for the first that has it.
    """
    spec = read_spec(name)
    recipe = spec.recipe(protocol)
    key, declared = recipe.table, spec.tables[recipe.table]
    here = dataclasses.replace(settings, offline=True)
    try:
        if source is None:
            table, place = find_table(key, declared, here)
        else:
            table, place = table_from(source, key, declared, settings), source
        dataset = check_dataset(encode(spec, protocol, table, place), recipe.expect)
    except UnavailableError as error:
        advice = f"python -m pipeline.data fetch {name} --protocol {protocol}"
        reason = f"not here: {error if source else advice}"
        return "absent", (name, protocol, "", "", "", "", reason)
    except DataError as error:
        return "BAD", (name, protocol, "", "", "", "", f"BAD: {error}")
    rows, columns = dataset.X.shape
    expect = recipe.expect
    figures = (f"{rows:,}", str(columns), f"{expect.positives:,}", expect.sha256[:12])
    return "ok", (name, protocol, *figures, f"ok, {place}")


COMMANDS = {"list": run_list, "fetch": run_fetch, "check": run_check, "describe": run_describe}

if __name__ == "__main__":
    sys.exit(main())

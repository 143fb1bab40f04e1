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
import itertools
import sys
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from pipeline.command_line import FAILED, choose, guarded, read_settings
from pipeline.data.dataset import load_spec
from pipeline.data.errors import DataError, UnavailableError
from pipeline.data.sources import MIRROR, SOURCES, Settings, find_table, place_of
from pipeline.data.sources.table import RAW_ADVICE, raw_path, write_parquet
from pipeline.data.spec import DatasetSpec, Table, dataset_names, read_spec
from pipeline.files import conf_dir
from pipeline.terminal import any_terminal, complain

PROTOCOLS = ("inferred", "stated")
LINKS = ("linear", "logistic", "probit")
LINKED = ("glm", "greedy_trap")  # the link is part of these datasets
COLUMNS = ("target", "group", "drop")
OWN = ("target", "positive", "negative", "above", "group", "drop", "separator")
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
    rows = [("dataset", "rows", "columns", "positives", "source", "now", "licence")]
    for name in dataset_names():
        spec = read_spec(name)
        recipe = spec.recipe(options.protocol or PROTOCOLS[0])
        expect, table = recipe.expect, spec.tables[recipe.table]
        share = f"{expect.positives:,} ({expect.positives / expect.rows:.0%})"
        now = place_of(recipe.table, table, settings)
        figures = (f"{expect.rows:,}", str(expect.columns), share)
        rows.append((name, *figures, origin(spec, table), now, spec.licence))
    print_aligned(rows, right=(1, 2, 3))
    return 0


def origin(spec: DatasetSpec, table: Table) -> str:
    """Return where a table was published, in a few letters."""
    if table.openml is not None:
        return f"OpenML {table.openml.data_id}"
    host = urlsplit(spec.homepage).netloc
    short = {"archive.ics.uci.edu": "UCI", "github.com": "GitHub", "www.openml.org": "OpenML"}
    return short.get(host, host)


def print_aligned(rows: Sequence[Sequence[str]], right: Sequence[int]) -> None:
    """Print rows as lines of columns; those in ``right`` are set to the right."""
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    sides = [">" if place in right else "<" for place in range(len(widths))]
    for row in rows:
        cells = zip(row, sides, widths, strict=True)
        print("  ".join(f"{cell:{side}{width}}" for cell, side, width in cells).rstrip())


def run_fetch(options: argparse.Namespace, settings: Settings) -> int:
    """Write tables to data/raw; one that cannot be had does not stop the others."""
    names = dataset_names() if options.names == ["all"] else options.names
    protocols = [options.protocol] if options.protocol else PROTOCOLS
    failed = 0
    for spec in [read_spec(name) for name in names]:
        try:
            for key in dict.fromkeys(spec.recipe(protocol).table for protocol in protocols):
                print(fetch(spec, key, settings), flush=True)
        except BrokenPipeError:
            raise
        except (DataError, OSError) as error:
            failed += 1
            complain(f"error: {spec.name}: {error}")
    return 1 if failed else 0


def fetch(spec: DatasetSpec, key: str, settings: Settings) -> str:
    """Write a raw table of a dataset; return a line about it."""
    table = spec.tables[key]
    frame, source = find_table(key, table, settings)
    path = raw_path(key, table, settings)
    if source != "data/raw":
        write_parquet(frame, path, RAW_ADVICE)
    rows, columns = frame.shape
    shape = f"{rows:>6,} rows × {columns:>3} raw columns"
    size = f"{path.stat().st_size / 1000:,.0f} kB"
    return f"{spec.name:10}  {shape} from {source:7} -> {path} ({size})"


def run_check(options: argparse.Namespace, settings: Settings) -> int:
    """Check all that is here, under both protocols if none is named."""
    if options.source == "mirror" and settings.mirror is None:
        raise DataError(f"no mirror is set: --mirror FOLDER, or ${MIRROR}")
    if options.source is None:
        settings = dataclasses.replace(settings, offline=True)
    protocols = [options.protocol] if options.protocol else PROTOCOLS
    rows = [("dataset", "protocol", "rows", "columns", "positives", "hash", "state")]
    counts = {"ok": 0, "absent": 0, "BAD": 0}
    for name, protocol in itertools.product(dataset_names(), protocols):
        state, *cells = check(read_spec(name), protocol, settings, options.source)
        counts[state] += 1
        rows.append((name, protocol, *cells))
    print_aligned(rows, right=(2, 3, 4))
    print(", ".join(f"{count} {state}" for state, count in counts.items() if count))
    return 1 if counts["BAD"] else 0


def check(
    spec: DatasetSpec, protocol: str, settings: Settings, source: str | None
) -> tuple[str, str, str, str, str, str]:
    """Return "ok", "absent" or "BAD", and the cells of a line about a dataset.

    Args:
        spec: of the dataset.
        protocol: of the dataset.
        settings: of the sources.
        source: where to take the table from; None for the first that has it.
    """
    try:
        dataset = load_spec(spec, protocol, settings, place=source)
    except UnavailableError as error:
        advice = f"python -m pipeline.data fetch {spec.name} --protocol {protocol}"
        return "absent", "", "", "", "", f"not here: {error if source else advice}"
    except DataError as error:
        return "BAD", "", "", "", "", f"BAD: {error}"
    rows, columns = dataset.X.shape
    expect = spec.recipe(protocol).expect
    figures = (f"{rows:,}", str(columns), f"{expect.positives:,}", expect.sha256[:12])
    return "ok", *figures, f"ok, {dataset.source}"


def run_describe(options: argparse.Namespace, settings: Settings) -> int:
    """Print what a dataset holds and draw its true scores."""
    from pipeline.data.describe import check_picture, describe, draw_scores, find, true_scores

    if options.output is not None:
        check_picture(options.output)
    given = {key: getattr(options, key) for key in OWN}
    if options.name in LINKED:
        given["link"] = options.link
    own = {key: value for key, value in given.items() if value is not None}
    link = options.link or LINKS[0]
    dataset, missing = find(options.name, options.protocol or PROTOCOLS[0], settings, own)
    scores = true_scores(dataset, link)
    print("\n".join(describe(dataset, missing, scores)))
    path = options.output or Path(f"outputs/data/{dataset.name}_{dataset.protocol}_{link}.png")
    draw_scores(scores, path)
    print(f"picture   {path}")
    return 0


COMMANDS = {"list": run_list, "fetch": run_fetch, "check": run_check, "describe": run_describe}

if __name__ == "__main__":
    sys.exit(main())

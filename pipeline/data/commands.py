"""What ``python -m pipeline.data`` can do: list, fetch, check."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from pipeline.data.dataset import check as check_dataset
from pipeline.data.dataset import encode
from pipeline.data.errors import DataError, UnavailableError
from pipeline.data.sources import Settings, find_table
from pipeline.data.sources.find import place_of, table_from
from pipeline.data.sources.kept import Raw
from pipeline.data.spec import DatasetSpec, Table, dataset_names, read_spec

HEADER = ("dataset", "rows", "columns", "positives", "source", "now", "licence")


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


def fetch(name: str, protocols: Sequence[str], settings: Settings) -> Iterator[str]:
    """Write the raw tables that the protocols of a dataset need; yield a line about each."""
    spec, raw = read_spec(name), Raw(settings.raw)
    for key in dict.fromkeys(spec.recipe(protocol).table for protocol in protocols):
        table = spec.tables[key]
        frame, source = find_table(key, table, settings)
        if source != Raw.name:
            raw.keep(key, table, frame)
        rows, columns = frame.shape
        path = raw.path(key, table)
        shape = f"{rows:>6,} rows × {columns:>3} raw columns"
        size = f"{path.stat().st_size / 1000:,.0f} kB"
        yield f"{name:10}  {shape} from {source:7} -> {path} ({size})"


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

"""Try the sources in order until one has the table."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pandas as pd

from pipeline.data.errors import UnavailableError
from pipeline.data.sources import table as tables
from pipeline.data.sources.openml import from_openml
from pipeline.data.sources.published_files import from_mirror, from_urls
from pipeline.data.sources.settings import Settings
from pipeline.data.spec import Table

# Each returns a table, or None if it is none of its places; an UnavailableError says why it cannot
# deliver now, another DataError that what it has is not that table.
SOURCES: dict[str, Callable[[str, Table, Settings], pd.DataFrame | None]] = {
    "bundled": tables.from_bundle,
    "mirror": from_mirror,
    "data/raw": tables.from_raw,
    "cache": tables.from_cache,
    "openml": from_openml,
    "url": from_urls,
}
FAR = ("openml", "url")  # need a network
NEAR = tuple(place for place in SOURCES if place not in FAR)


def find_table(name: str, table: Table, settings: Settings) -> tuple[pd.DataFrame, str]:
    """Return a checked table and the name of the source that had it; keep what was fetched."""
    reasons: list[str] = []
    near = ("data/raw",) if settings.only_raw else NEAR
    if found := _first(near, name, table, settings, reasons):
        return found
    if settings.only_raw:
        path = tables.raw_path(name, table, settings)
        advice = "python -m pipeline.data fetch all"
        reasons = [f"data.only_raw=true, and there is no {path}: {advice}"]
    elif settings.offline:
        reasons.append("openml and url: forbidden by data.offline=true")
    else:
        with tables.fetching(name, settings):
            # Another process may have just done so.
            if found := _first(("cache", *FAR), name, table, settings, reasons):
                if found[1] != "cache":
                    tables.write_parquet(
                        found[0], tables.cache_path(name, settings), tables.CACHE_ADVICE
                    )
                return found
    raise UnavailableError("\n  ".join([f"table {name} could not be found:", *reasons]))


def table_from(
    source: str, name: str, table: Table, settings: Settings
) -> tuple[pd.DataFrame, str]:
    """Return a checked table of one of :data:`SOURCES`, whatever the others have."""
    reasons = [f"{source} does not have it"]
    allowed = () if settings.offline and source in FAR else (source,)
    if found := _first(allowed, name, table, settings, reasons):
        return found
    raise UnavailableError(reasons[-1])


def _first(
    places: Iterable[str], name: str, table: Table, settings: Settings, reasons: list[str]
) -> tuple[pd.DataFrame, str] | None:
    """Return the checked table of the first source that has it; note why others do not."""
    for place in places:
        try:
            frame = SOURCES[place](name, table, settings)
        except UnavailableError as error:
            reasons.append(f"{place}: {error}")
            continue
        if frame is not None:
            tables.check_table(frame, name, table, place)
            return frame, place
    return None


def place_of(name: str, table: Table, settings: Settings) -> str:
    """Return where a table would be taken from at this moment; opens no file, asks no server."""
    folder, files = settings.mirror, table.files
    here = {
        "bundled": table.bundled,
        "mirror": folder and files and all((folder / file.path).is_file() for file in files),
        "data/raw": tables.raw_path(name, table, settings).is_file(),
        "cache": tables.cache_path(name, settings).is_file(),
    }
    missing = "not here" if settings.offline else "to fetch"
    return next((place for place, is_here in here.items() if is_here), missing)

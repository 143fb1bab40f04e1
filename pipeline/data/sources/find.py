"""Try the sources in order until one has the table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Protocol

import pandas as pd

from pipeline.data.errors import UnavailableError
from pipeline.data.sources.kept import Bundled, Cache, Raw
from pipeline.data.sources.openml import OpenMLSource
from pipeline.data.sources.published_files import Mirror, UrlSource
from pipeline.data.sources.settings import MIRROR, Settings
from pipeline.data.sources.table import check_table
from pipeline.data.spec import Table

SOURCES = tuple(place.name for place in (Bundled, Mirror, Raw, Cache, OpenMLSource, UrlSource))


class Source(Protocol):
    """One place a table may come from."""

    name: ClassVar[str]

    def table(self, name: str, table: Table) -> pd.DataFrame | None:
        """Return a table, or None if this source is not one of its places.

        Raises:
            UnavailableError: it is one of them, but cannot deliver now.
            DataError: what it has is not that table.
        """


def find_table(name: str, table: Table, settings: Settings) -> tuple[pd.DataFrame, str]:
    """Return a checked table and the name of the source that had it."""
    reasons: list[str] = []
    found = _first(near_sources(settings), name, table, reasons)
    if found is not None:
        return found
    if settings.only_raw:
        path = Raw(settings.raw).path(name, table)
        advice = "python -m pipeline.data fetch all"
        raise _not_found(name, [f"data.only_raw=true, and there is no {path}: {advice}"])
    if settings.mirror is None and table.files:
        reasons.append(f"mirror: none is set (data.mirror or ${MIRROR})")
    if settings.offline:
        raise _not_found(name, [*reasons, "openml and url: forbidden by data.offline=true"])
    return _fetch(name, table, settings, reasons)


def _fetch(
    name: str, table: Table, settings: Settings, reasons: list[str]
) -> tuple[pd.DataFrame, str]:
    """Fetch and keep a table, unless another process has just done so."""
    cache = Cache(settings.cache)
    with cache.lock(name):
        found = _first([cache, *far_sources(settings)], name, table, reasons)
        if found is None:
            raise _not_found(name, reasons)
        if found[1] != cache.name:
            cache.keep(name, table, found[0])
    return found


def _first(
    sources: Iterable[Source], name: str, table: Table, reasons: list[str]
) -> tuple[pd.DataFrame, str] | None:
    """Return the checked table of the first source that has it; note why others do not."""
    for source in sources:
        try:
            frame = source.table(name, table)
        except UnavailableError as error:
            reasons.append(f"{source.name}: {error}")
            continue
        if frame is not None:
            check_table(frame, name, table, source.name)
            return frame, source.name
    return None


def _not_found(name: str, reasons: list[str]) -> UnavailableError:
    return UnavailableError("\n  ".join([f"table {name} could not be found:", *reasons]))


def table_from(source: str, name: str, table: Table, settings: Settings) -> pd.DataFrame:
    """Return a checked table of one of :data:`SOURCES`, whatever the others have."""
    reasons = [f"{source} does not have it"]
    far = [] if settings.offline else far_sources(settings)
    places = (place for place in (*near_sources(settings), *far) if place.name == source)
    found = _first(places, name, table, reasons)
    if found is None:
        raise UnavailableError(reasons[-1])
    return found[0]


def place_of(name: str, table: Table, settings: Settings) -> str:
    """Return where a table would be taken from at this moment; opens no file, asks no server."""
    if table.bundled:
        return Bundled.name
    folder = settings.mirror
    if folder and table.files and all((folder / file.path).is_file() for file in table.files):
        return Mirror.name
    for kept in (Raw(settings.raw), Cache(settings.cache)):
        if kept.path(name, table).is_file():
            return kept.name
    return "not here" if settings.offline else "to fetch"


def near_sources(settings: Settings) -> list[Source]:
    """Return the sources that need no network, in order."""
    if settings.only_raw:
        return [Raw(settings.raw)]
    mirror = [] if settings.mirror is None else [Mirror(settings.mirror)]
    return [Bundled(), *mirror, Raw(settings.raw), Cache(settings.cache)]


def far_sources(settings: Settings) -> list[Source]:
    """Return the sources that need a network, in order."""
    return [OpenMLSource(settings), UrlSource(settings)]

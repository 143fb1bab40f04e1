"""Where tables come from: bundled, mirror, data/raw, cache, openml, url, tried in this order."""

from pipeline.data.sources.find import SOURCES, find_table, place_of, table_from
from pipeline.data.sources.settings import MIRROR, Settings

__all__ = ["MIRROR", "SOURCES", "Settings", "find_table", "place_of", "table_from"]

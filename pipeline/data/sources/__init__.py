"""Where tables come from: bundled, mirror, data/raw, cache, openml, url, tried in this order."""

from pipeline.data.sources.find import SOURCES, find_table, table_from
from pipeline.data.sources.settings import Settings

__all__ = ["SOURCES", "Settings", "find_table", "table_from"]

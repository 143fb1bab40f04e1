"""Where tables come from: bundled, mirror, data/raw, cache, openml, url, tried in this order."""

from pipeline.data.sources.cache import Cache
from pipeline.data.sources.find import SOURCES, find_table, place_of, table_from
from pipeline.data.sources.mirror import Mirror
from pipeline.data.sources.openml import OpenMLSource
from pipeline.data.sources.raw import Raw
from pipeline.data.sources.reader import check_is_data
from pipeline.data.sources.settings import MIRROR, Settings

__all__ = [
    "MIRROR",
    "SOURCES",
    "Cache",
    "Mirror",
    "OpenMLSource",
    "Raw",
    "Settings",
    "check_is_data",
    "find_table",
    "place_of",
    "table_from",
]

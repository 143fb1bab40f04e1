"""Where tables come from: bundled, mirror, data/raw, cache, openml, url, tried in this order."""

from pipeline.data.sources.find import SOURCES, find_table, place_of, table_from
from pipeline.data.sources.kept import Raw
from pipeline.data.sources.openml import find_openml
from pipeline.data.sources.published import Mirror, check_is_data
from pipeline.data.sources.settings import MIRROR, Settings

__all__ = [
    "MIRROR",
    "SOURCES",
    "Mirror",
    "Raw",
    "Settings",
    "check_is_data",
    "find_openml",
    "find_table",
    "place_of",
    "table_from",
]

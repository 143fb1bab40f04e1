"""Where tables come from: bundled, mirror, data/raw, cache, openml, url, tried in this order."""

from pipeline.data.sources.find import find_table
from pipeline.data.sources.settings import Settings

__all__ = ["Settings", "find_table"]

"""Where tables come from: bundled, mirror, data/raw, cache, openml, url, tried in this order."""

from pipeline.data.sources.find import SOURCES, find_table
from pipeline.data.sources.published_files import Mirror
from pipeline.data.sources.settings import MIRROR, Settings

__all__ = ["MIRROR", "SOURCES", "Mirror", "Settings", "find_table"]

"""What a user can set about the sources; ``data.*`` in the configs."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MIRROR, RAW, CACHE = "ONESIDED_DATA_MIRROR", "ONESIDED_DATA_RAW", "ONESIDED_CACHE"


@dataclass(frozen=True)
class Settings:
    """Settings of all sources.

    Attributes:
        mirror: folder of raw files; None for none.
        offline: forbid openml and url.
        cache: folder in which fetched tables are kept.
        max_bytes: largest file to download, and to unpack.
        timeout: seconds without a sign of life after which a server is given up.
        time_limit: seconds after which a whole download is given up.
        openml_server: address of the OpenML API; None for the client's own.
        only_raw: take tables from ``raw`` and nowhere else.
        raw: folder that ``python -m pipeline.data fetch`` and DVC fill.
    """

    mirror: Path | None
    offline: bool
    cache: Path
    max_bytes: int = 200_000_000
    timeout: float = 30.0
    time_limit: float = 600.0
    openml_server: str | None = None
    only_raw: bool = False
    raw: Path = Path("data/raw")

    @classmethod
    def of(
        cls,
        mirror: Path | str | None = None,
        offline: bool = False,
        cache: Path | str | None = None,
        **others: Any,
    ) -> Settings:
        """Return the settings, folders that are not given from the environment."""
        known = {
            "mirror": mirror or os.environ.get(MIRROR),
            "cache": cache or os.environ.get(CACHE) or "~/.cache/onesided",
            "raw": os.environ.get(RAW),
        }
        folders: Any = {key: Path(path).expanduser() for key, path in known.items() if path}
        return cls(**{"mirror": None, "offline": offline, **folders, **others})

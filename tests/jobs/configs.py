"""Configs for tests, composed by Hydra as the command line does."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra

from pipeline.data.sources import Settings
from pipeline.jobs.runner import Places
from pipeline.jobs.task import plain
from pipeline.paths import conf_dir


@lru_cache(maxsize=64)
def _composed(overrides: tuple[str, ...]) -> Any:
    GlobalHydra.instance().clear()
    with initialize_config_dir(str(conf_dir()), version_base="1.3"):
        return compose("config", overrides=list(overrides))


def config(*overrides: str) -> Any:
    """Return a composed config."""
    return _composed(overrides).copy()


def values(*overrides: str) -> dict[str, Any]:
    """Return a composed config as plain values."""
    return plain(config(*overrides))


def places(outputs: Path) -> Places:
    """Return places that use no network."""
    return Places(outputs, Settings.of(offline=True))


SMALL = ("splits=2", "alpha=[0.1,1]", "tracking=none")

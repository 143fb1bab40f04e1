"""A composed config as plain values, and where it says that data and results are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import MissingMandatoryValue, OmegaConfBaseException

from pipeline.data.sources import Settings
from pipeline.jobs.early import check_sources
from pipeline.jobs.errors import ConfigError
from pipeline.jobs.runner import Places


def plain(config: DictConfig) -> dict[str, Any]:
    """Return a config as plain values."""
    try:
        values = OmegaConf.to_container(config, resolve=True, throw_on_missing=True)
    except MissingMandatoryValue as error:
        raise ConfigError(f"{error.full_key} is not set: give {error.full_key}=…") from error
    except OmegaConfBaseException as error:
        raise ConfigError(str(error)) from error
    assert isinstance(values, dict)
    return {str(key): value for key, value in values.items()}


def places_of(values: dict[str, Any]) -> Places:
    """Return where data come from and results go to."""
    check_sources(values["data"])
    return Places(Path(str(values["outputs"])), Settings.of(**values["data"]))

"""From a config of the group ``dataset`` to a dataset, whatever its kind."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from omegaconf import OmegaConf
from omegaconf.errors import MissingMandatoryValue, OmegaConfBaseException

from pipeline.core.near_misses import closest
from pipeline.data.dataset import Dataset, load_spec
from pipeline.data.errors import DataError
from pipeline.data.own_table import load_file, load_frame, load_openml
from pipeline.data.sources import Settings
from pipeline.data.spec import dataset_names, parse_spec
from pipeline.data.synthetic import glm, greedy_trap
from pipeline.files import conf_dir

MAKERS: dict[str, Callable[..., Dataset]] = {
    "csv": load_file,
    "openml": load_openml,
    "glm": glm,
    "greedy_trap": greedy_trap,
}
DEFAULT_LINK = "linear"  # of synthetic labels, where no run says otherwise


def all_names() -> list[str]:
    """Return every name that ``dataset=`` takes."""
    return [*dataset_names(), *MAKERS]


def load_named(name: str, protocol: str, settings: Settings, **changes: Any) -> Dataset:
    """Return the dataset of conf/dataset/<name>.yaml, with some of its values changed."""
    if name not in all_names():
        raise DataError(f"there is no dataset {name!r}{closest(name, all_names())}")
    config = OmegaConf.load(conf_dir() / "dataset" / f"{name}.yaml")
    return load_config(OmegaConf.merge(config, changes), protocol, settings)


def load_config(config: Any, protocol: str, settings: Settings) -> Dataset:
    """Return the dataset of a composed config: one of the ten, an own table, or a synthetic one.

    Args:
        config: of the group ``dataset``; one of the ten may carry ``group``, a raw column.
        protocol: ``inferred`` or ``stated``; only the ten have two.
        settings: of the sources.
    """
    values = _values(config)
    name = str(values.pop("name"))
    if name not in MAKERS:
        return load_spec(parse_spec({"name": name, **values}, name), protocol, settings)
    maker = MAKERS[name]
    _check_options(name, maker, values)
    if maker is load_openml:
        values["settings"] = settings
    if "link" in values and values["link"] is None:
        values["link"] = DEFAULT_LINK
    return maker(**values)


def _values(config: Any) -> dict[str, Any]:
    try:
        made = OmegaConf.create(config)
        values = OmegaConf.to_container(made, resolve=True, throw_on_missing=True)
    except MissingMandatoryValue as error:
        raise DataError(f"dataset.{error.full_key} is not set") from error
    except OmegaConfBaseException as error:
        raise DataError(f"dataset: {error}") from error
    if not isinstance(values, dict) or "name" not in values:
        raise DataError("a config of the group dataset needs a name")
    return {str(key): value for key, value in values.items()}


def _check_options(name: str, maker: Callable[..., Dataset], values: Mapping[str, Any]) -> None:
    known = set(inspect.signature(maker).parameters)
    if "options" in known:
        known |= set(inspect.signature(load_frame).parameters)
    known -= {"options", "settings", "frame", "name", "source"}
    for key in values:
        if key not in known:
            raise DataError(f"dataset {name} has no option {key!r}{closest(key, known)}")

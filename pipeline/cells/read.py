"""From a composed config to a cell, refused before anything is computed where it makes no sense."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import MissingMandatoryValue, OmegaConfBaseException

from pipeline.cells.cell import Cell, Cutoff, Setting
from pipeline.cells.errors import ConfigError
from pipeline.cells.own_method import find_method
from pipeline.cells.runner import Places
from pipeline.core.methods import Method
from pipeline.data.sources import Settings
from pipeline.files import write_text

DEFAULT_CUTOFF = 0.5
SYNTHETIC = ("glm", "greedy_trap")
WHOLE = {"n": 1, "d": 1, "seed": 0}  # options of synthetic datasets, and the least they may be
NUMBERS = ("noise", "gap", "share", "coef_norm")


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


def places_of(values: Mapping[str, Any]) -> Places:
    """Return where data come from and results go to."""
    check_sources(values["data"])
    return Places(Path(str(values["outputs"])), Settings.of(**values["data"]))


def make_cell(config: Mapping[str, Any], config_dirs: Sequence[Path] = ()) -> Cell:
    """Return the cell of a composed config.

    Args:
        config: plain values, interpolations resolved.
        config_dirs: folders of configs outside the project, to look for method files in.
    """
    link = str(config["link"]["name"])
    dataset = dict(config["dataset"])
    if "link" in dataset and dataset["link"] is None:
        dataset["link"] = link
    if dataset.get("name") in SYNTHETIC:
        _check_synthetic(dataset)
    protocol = dict(config["protocol"])
    setting = _setting(protocol, str(dataset.get("name")), link)
    method, file = find_method(config["method"], config_dirs)
    return Cell(
        dataset=dataset,
        protocol=str(protocol["name"]),
        setting=setting,
        link=link,
        cutoff=_cutoff(config, dataset, setting),
        method=method,
        method_file=file,
        alphas=_alphas(config["alpha"], protocol["alpha_exponents"], method),
        splits=_splits(config["splits"]),
        seed=whole("seed", config["seed"], least=0),
        curve_points=whole("curve_points", config["curve_points"], least=1),
    )


def _check_synthetic(dataset: Mapping[str, Any]) -> None:
    """Refuse what is no number; whether there is a dataset of such numbers, its maker says."""
    for key, least in WHOLE.items():
        if key in dataset:
            whole(f"dataset.{key}", dataset[key], least)
    for key in NUMBERS:
        if key in dataset:
            number(f"dataset.{key}", dataset[key])


def _setting(protocol: Mapping[str, Any], dataset: str, link: str) -> Setting:
    sizes = protocol["batch_size"]
    if isinstance(sizes, Mapping):
        sizes = sizes.get(dataset, sizes.get("default"))
    model = dict(protocol["model"])
    setting = Setting(
        initial=dict(protocol["initial"]),
        batch_size=whole("protocol.batch_size", sizes, least=1),
        time=str(protocol["time"]),
        delay=whole("protocol.delay", protocol["delay"], least=0),
        draws=str(protocol["draws"]),
        model=model,
        truth={**model, **protocol["truth"]},
    )
    for key in ("model", "truth"):
        try:
            setting.spec(getattr(setting, key), link, intercept=True)
        except (TypeError, ValueError) as error:
            raise ConfigError(f"protocol.{key}: {error}") from error
    return setting


def _cutoff(config: Mapping[str, Any], dataset: Mapping[str, Any], setting: Setting) -> Cutoff:
    quantile, value = config["cutoff"], config["cutoff_value"]
    if quantile is not None and value is not None:
        raise ConfigError("cutoff (a quantile) and cutoff_value exclude each other: set one")
    own = dataset.get("cutoff")  # on the scale of the mean
    if value is None and quantile is None and own is not None:
        own = number("dataset.cutoff", own)
        value = 2.0 * own - 0.5 if setting.model.get("score") == "contrast" else own
    if value is not None:
        return Cutoff(value=number("cutoff_value", value))
    quantile = DEFAULT_CUTOFF if quantile is None else number("cutoff", quantile)
    if not 0.0 < quantile < 1.0:
        raise ConfigError(
            f"cutoff={quantile:g} is not a quantile between 0 and 1; for an absolute cutoff use "
            f"cutoff_value={quantile:g}"
        )
    return Cutoff(quantile=quantile)


def _alphas(alpha: Any, exponents: Any, method: Method) -> tuple[float, ...]:
    if not method.has_alpha:
        return (0.0,)
    if alpha == "grid":
        low, high = (whole("protocol.alpha_exponents", e, least=-1000) for e in exponents)
        return tuple(2.0**exponent for exponent in range(low, high + 1))
    if isinstance(alpha, str):
        raise ConfigError(f"alpha={alpha} is neither grid, nor a number, nor a list of numbers")
    values = alpha if isinstance(alpha, Sequence) else [alpha]
    found = sorted({number("alpha", value) for value in values})
    if not found or found[0] < 0:
        raise ConfigError(f"alpha={_shown(alpha)}: alpha must be a number of at least 0")
    return tuple(found)


def _splits(splits: Any) -> tuple[int, ...]:
    if isinstance(splits, Sequence) and not isinstance(splits, str):
        numbers = tuple(whole("splits", one, least=0) for one in splits)
        if not numbers or len(set(numbers)) < len(numbers):
            raise ConfigError(f"splits={_shown(splits)}: give each split's number once")
        return numbers
    return tuple(range(whole("splits", splits, least=1)))


def number(key: str, value: Any) -> float:
    """Return the value of a config key, refused where it is no finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ConfigError(f"{key}={_shown(value)} is not a finite number")
    return float(value)


def whole(key: str, value: Any, least: int) -> int:
    """Return the value of a config key, refused where it is no whole number or too small."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ConfigError(f"{key}={_shown(value)} is not a whole number of at least {least}")
    return value


def _shown(value: Any) -> str:
    return str(value).replace(" ", "")


def check_sources(data: Mapping[str, Any]) -> None:
    """Raise ConfigError where a setting of the sources is of the wrong kind: "no" would be yes."""
    for key in ("offline", "only_raw"):
        _check_switch(f"data.{key}", data[key])
    whole("data.max_bytes", data["max_bytes"], least=1)
    for key in ("timeout", "time_limit"):
        if number(f"data.{key}", data[key]) <= 0:
            raise ConfigError(f"data.{key}={data[key]} is not a number of seconds above 0")


def check_machine(values: Mapping[str, Any]) -> None:
    """Refuse what would otherwise be found out by a library deep inside, or not at all."""
    _check_switch("force", values["force"])
    for key in ("threads", "part"):
        value = values[key]
        if value is not None and (type(value) is not int or value < 1):
            raise ConfigError(f"{key}={value} is neither null nor a whole number of at least 1")
    n_jobs = values["n_jobs"]
    if type(n_jobs) is not int or n_jobs == 0:
        raise ConfigError(f"n_jobs={n_jobs} is neither a number of jobs nor -1 for all cores")


def _check_switch(key: str, value: Any) -> None:
    if not isinstance(value, bool):
        raise ConfigError(f"{key}={value} is neither true nor false")


def check_writable(outputs: Path) -> None:
    """Raise ConfigError where nothing can be written."""
    probe = outputs / ".writable"
    try:
        write_text(probe, "")
        probe.unlink(missing_ok=True)  # another sweep may have removed it
    except OSError as error:
        reason = error.strerror or error
        advice = "choose another folder with outputs=…, or make room in this one"
        raise ConfigError(f"outputs={outputs} cannot be written to ({reason}): {advice}") from error

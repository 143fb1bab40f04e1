"""A cell: what one job computes, checked before anything is computed.

A cell is one (protocol, dataset, link, cutoff, method) with all its alphas and splits. It is made
from a composed config and says what the result depends on, and nothing else: where results are
kept, how many workers there are and whether a run is tracked change no figure.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.core.links import get_link
from pipeline.core.methods import Method
from pipeline.core.models.base import ModelSpec
from pipeline.data.dataset import Dataset
from pipeline.data.own_table import file_name
from pipeline.jobs.errors import ConfigError
from pipeline.jobs.methods import find_method

DEFAULT_CUTOFF = 0.5
SYNTHETIC = ("glm", "greedy_trap")
WHOLE = {"n": 1, "d": 1, "seed": 0}  # options of synthetic datasets, and the least they may be
NUMBERS = ("noise", "gap", "share", "coef_norm")


@dataclass(frozen=True)
class Cutoff:
    """Where the line is drawn: a quantile of the true scores, or a value on their scale."""

    quantile: float | None = None
    value: float | None = None

    @property
    def label(self) -> str:
        """Return it as folders and tables name it: ``0.5`` or ``value_0.3``."""
        return f"value_{self.value:g}" if self.quantile is None else f"{self.quantile:g}"


@dataclass(frozen=True)
class Cell:
    """One job.

    Attributes:
        dataset: the config of the group ``dataset``.
        protocol: its name.
        setting: the protocol's setting for this dataset and link.
        link: its name.
        cutoff: quantile or value.
        method: with its parameters.
        method_file: of a method that is not the project's own.
        alphas: in ascending order; ``(0.0,)`` for a method without alpha.
        splits: numbers of the splits.
        seed: of splits and draws.
        curve_points: about how many rounds of R_t to keep.
        table: the dataset itself, where it was handed over in Python.
    """

    dataset: Mapping[str, Any]
    protocol: str
    setting: Setting
    link: str
    cutoff: Cutoff
    method: Method
    method_file: Path | None
    alphas: tuple[float, ...]
    splits: tuple[int, ...]
    seed: int
    curve_points: int
    table: Dataset | None = None

    @property
    def dataset_label(self) -> str:
        """Return the dataset's name; for an own table that of its file, for OpenML with its id."""
        return dataset_label(self.dataset)

    @property
    def labels(self) -> dict[str, str]:
        """Return protocol, dataset, link, cutoff and method as folders and tables name them."""
        return {
            "protocol": self.protocol,
            "dataset": self.dataset_label,
            "link": self.link,
            "cutoff": self.cutoff.label,
            "method": self.method.name,
        }


@dataclass(frozen=True)
class Setting:
    """What a protocol sets for one dataset and link.

    Attributes:
        initial: share and count of initial rows; the smaller of both.
        batch_size: rows a round.
        time: whether t counts ``rounds`` or ``examples``.
        delay: how many rounds later labels arrive.
        draws: ``fresh`` or ``shared``.
        model: settings of the learner's model; an intercept of None is the dataset's.
        truth: those of the model whose fit to all rows is β*.
    """

    initial: Mapping[str, Any]
    batch_size: int
    time: str
    delay: int
    draws: str
    model: Mapping[str, Any]
    truth: Mapping[str, Any]

    def spec(self, part: Mapping[str, Any], link: str, intercept: bool) -> ModelSpec:
        """Return the spec of ``self.model`` or ``self.truth`` for a dataset."""
        values = dict(part)
        if values.get("fit_intercept") is None:
            values["fit_intercept"] = intercept
        return ModelSpec(link=get_link(link), **values)


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


def dataset_label(dataset: Mapping[str, Any]) -> str:
    """Return how folders and tables call a dataset."""
    name = str(dataset["name"])
    if name == "csv":
        return file_name(str(dataset["path"]))
    return f"openml_{dataset['data_id']}" if name == "openml" else name


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

"""A cell: what one run computes, checked before anything is computed.

A cell is one (protocol, dataset, link, cutoff, method) with all its alphas and splits. It is made
from a composed config and says what the result depends on, and nothing else: where results are
kept, how many workers there are and whether a run is tracked change no figure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.core.links import get_link
from pipeline.core.methods import Method
from pipeline.core.models.base import ModelSpec
from pipeline.data.dataset import Dataset
from pipeline.data.own_table import file_name


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
    """What is asked for.

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


def dataset_label(dataset: Mapping[str, Any]) -> str:
    """Return how folders and tables call a dataset."""
    name = str(dataset["name"])
    if name == "csv":
        return file_name(str(dataset["path"]))
    return f"openml_{dataset['data_id']}" if name == "openml" else name

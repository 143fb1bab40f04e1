"""The jobs of a sweep: what ``python -m pipeline.run -m <overrides>`` would run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from pipeline.jobs.compose import Composer, Loader, hydra_globals
from pipeline.jobs.errors import ConfigError
from pipeline.jobs.hydra_job import own_config_dirs

BASIC_SWEEPER = "hydra._internal.core_plugins.basic_sweeper.BasicSweeper"


@dataclass(frozen=True)
class PlannedJob:
    """One job of a sweep.

    Attributes:
        overrides: as Hydra hands them to the job, one value each.
        values: the job's config as plain values; parts are shared between jobs: do not change them.
        config_dirs: folders of configs outside the project.
    """

    overrides: list[str]
    values: dict[str, Any]
    config_dirs: list[Path]


def plan(overrides: Sequence[str], config_dirs: Sequence[Path] = ()) -> list[PlannedJob]:
    """Return the jobs of a sweep, in Hydra's order.

    Args:
        overrides: as on the command line.
        config_dirs: folders of configs outside the project, as given by ``--config-dir``.
    """
    with hydra_globals():
        loader = Loader(config_dirs)
        main = loader.load_configuration("config", list(overrides), RunMode.MULTIRUN)
        jobs = _expand(main, loader)
        chosen = [_split(job, loader) for job in jobs]
        composer = Composer(loader, list(main.hydra.overrides.hydra), _values_of_groups(chosen))
        folders = own_config_dirs(main.hydra)
        return [
            PlannedJob(job, composer.values(groups, others), folders)
            for job, (groups, others) in zip(jobs, chosen, strict=True)
        ]


def _expand(main: DictConfig, loader: Loader) -> list[list[str]]:
    """Return the overrides of each job; the command line's come after the experiment's."""
    sweeper = OmegaConf.to_container(main.hydra.sweeper, resolve=True)
    assert isinstance(sweeper, dict)
    if sweeper.get("_target_") != BASIC_SWEEPER:
        raise ConfigError("hydra/sweeper: only the jobs of the basic sweeper are known beforehand")
    params = [f"{key}={value}" for key, value in (sweeper.get("params") or {}).items()]
    lines = [*params, *main.hydra.overrides.task]
    parsed = OverridesParser.create(loader).parse_overrides(lines)
    batches = BasicSweeper.split_arguments(parsed, None)
    return [job for batch in batches for job in batch]


def _split(job: Sequence[str], loader: Loader) -> tuple[dict[str, str], list[Override]]:
    """Divide a job's overrides as Hydra does: choices in groups, and plain values."""
    groups, others = {}, []
    for line in job:
        override = _parse(line)
        is_group = loader.sources.group_exists(override.key_or_group)
        if is_group and not isinstance(override.value(), dict):
            groups[override.get_key_element()] = override.get_value_element_as_str()
        else:
            others.append(override)
    return groups, others


@lru_cache(maxsize=4096)
def _parse(line: str) -> Override:
    """Return a parsed override; the jobs of a sweep share most of theirs."""
    (override,) = OverridesParser.create().parse_overrides([line])
    return override


def _values_of_groups(
    chosen: Iterable[tuple[dict[str, str], list[Override]]],
) -> dict[str, list[str]]:
    """Return the values asked for in each group, in their order."""
    found: dict[str, dict[str, None]] = {}
    for groups, _ in chosen:
        for group, value in groups.items():
            found.setdefault(group, {})[value] = None
    return {group: list(values) for group, values in found.items()}

"""What can be refused before anything starts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from hydra.core.override_parser.overrides_parser import OverridesParser

from pipeline.core.names import closest
from pipeline.jobs.cell import make_cell, number, whole
from pipeline.jobs.errors import ConfigError
from pipeline.results.files import write_text


def check_job(values: Mapping[str, Any], dirs: Sequence[Path]) -> None:
    """Raise ConfigError where a job's cutoff, alpha, splits or what else is set makes no sense.

    Args:
        values: its config.
        dirs: folders of configs outside the project.
    """
    check_machine(values)
    check_sources(values["data"])
    make_cell(values, dirs)


def check_sources(data: Mapping[str, Any]) -> None:
    """Raise ConfigError where a setting of the sources is of the wrong kind: "no" would be yes."""
    for key in ("offline", "only_raw"):
        _check_switch(f"data.{key}", data[key])
    whole("data.max_bytes", data["max_bytes"], least=1)
    for key in ("timeout", "time_limit"):
        if number(f"data.{key}", data[key]) <= 0:
            raise ConfigError(f"data.{key}={data[key]} is not a number of seconds above 0")


def check_choices(jobs: Sequence[Sequence[str]], options: Callable[[str], list[str]]) -> None:
    """Raise ConfigError where a job chooses what a config group has not.

    Hydra composes a job when its turn comes, and would stop the sweep in the middle.

    Args:
        jobs: the overrides of each job.
        options: from a config group to what it has; nothing for what is no group.
    """
    options = cache(options)
    lines = list(dict.fromkeys(line for job in jobs for line in job))
    for override in OverridesParser.create().parse_overrides(lines):
        group, value = override.key_or_group, override.value()
        if not isinstance(value, str) or "." in group or not options(group):
            continue
        group, _, name = f"{group}/{value.removesuffix('.yaml')}".rpartition("/")
        if name not in options(group):
            hint = closest(name, options(group))
            raise ConfigError(f"{group}={name}: there is no such {group}{hint}")


def covering(jobs: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    """Return few jobs in which every override of every job occurs at least once."""
    seen: set[str] = set()
    chosen = []
    # First those with much that is new: ten values of one key and seven of another need ten jobs.
    for least in range(max(map(len, jobs), default=0), 0, -1):
        for job in jobs:
            if len(seen.union(job)) >= len(seen) + least:
                seen.update(job)
                chosen.append(job)
    return chosen


def check_machine(values: Mapping[str, Any]) -> None:
    """Refuse what would otherwise be found out by a library deep inside, or not at all."""
    threads, n_jobs = values["threads"], values["n_jobs"]
    _check_switch("force", values["force"])
    if threads is not None and (type(threads) is not int or threads < 1):
        raise ConfigError(f"threads={threads} is neither null nor a whole number of at least 1")
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

"""What can be refused before anything starts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pipeline.jobs.cell import number, whole
from pipeline.jobs.errors import ConfigError
from pipeline.results.files import write_text


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
    threads, n_jobs = values["threads"], values["n_jobs"]
    _check_switch("force", values["force"])
    if threads is not None and (type(threads) is not int or threads < 1):
        raise ConfigError(f"threads={threads} is neither null nor a whole number of at least 1")
    part = values["part"]
    if part is not None and (type(part) is not int or part < 1):
        raise ConfigError(f"part={part} is neither null nor a whole number of at least 1")
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

"""The command that completes a sweep."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

from hydra.core.override_parser.overrides_parser import OverridesParser

from pipeline.sweeps.plan import PlannedJob

COMMAND = ("python", "-m", "pipeline.run", "-m")


def fill_command(
    overrides: Sequence[str],
    config_dir: Path | None,
    jobs: Sequence[PlannedJob],
    gaps: Sequence[PlannedJob],
) -> str:
    """Return the command that runs the gaps of a sweep: each key with the values gaps have.

    That may cover more than the gaps; what is finished is skipped when it runs.

    Args:
        overrides: of the whole sweep, as on the command line.
        config_dir: of the command line.
        jobs: of the whole sweep.
        gaps: those that are missing or failed.
    """
    every, needed = _values(jobs), _values(gaps)
    narrow = {key: needed[key] for key, values in every.items() if len(needed[key]) < len(values)}
    given = dict(zip(_keys(overrides), overrides, strict=True))
    given.pop("force", None)  # it would compute everything again
    narrowed = {key: f"{key}={','.join(values)}" for key, values in narrow.items()}
    place = () if config_dir is None else ("--config-dir", str(config_dir))
    return shlex.join([*COMMAND, *place, *{**given, **narrowed}.values()])


def _values(jobs: Iterable[PlannedJob]) -> dict[str, list[str]]:
    """Return the values of each key, in the order of the jobs."""
    found: dict[str, dict[str, None]] = {}
    for job in jobs:
        for line in job.overrides:
            key, _, value = line.partition("=")
            found.setdefault(key, {})[value] = None
    return {key: list(values) for key, values in found.items()}


def _keys(overrides: Sequence[str]) -> list[str]:
    parsed = OverridesParser.create().parse_overrides(list(overrides))
    return [override.get_key_element() for override in parsed]

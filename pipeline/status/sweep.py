"""How a sweep stands, cell by cell, and the command that completes it."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from hydra.core.override_parser.overrides_parser import OverridesParser

from pipeline.cells.read import places_of
from pipeline.cells.runner import look_for
from pipeline.results.journal import Run
from pipeline.results.runs import TRACEBACK
from pipeline.status.grid import print_grids
from pipeline.sweeps.plan import Planned, plan
from pipeline.view.names import name_text

COMMAND = ("python", "-m", "pipeline.run", "-m")
# These say where and how to run: they name no cell.
ABOUT_RUNNING = ("outputs", "n_jobs", "threads", "force", "tracking", "data", "hydra")


def names_cells(overrides: Sequence[str]) -> bool:
    """Tell whether a command line asks for certain cells."""
    parsed = OverridesParser.create().parse_overrides(list(overrides))
    keys = [override.key_or_group.replace("/", ".").partition(".")[0] for override in parsed]
    return any(key not in ABOUT_RUNNING for key in keys)


def report_sweep(overrides: Sequence[str], config_dir: Path | None) -> bool:
    """Print how a sweep stands; return whether it is complete."""
    jobs = plan(overrides, [] if config_dir is None else [config_dir])
    runs = stand(jobs)
    print_grids(runs)
    for line in _totals(runs):
        print(line)
    gaps = [job for job, run in zip(jobs, runs, strict=True) if not run.is_done]
    if not gaps:
        print("nothing is missing")
        return True
    print("to fill the gaps:")
    print(f"  {fill_command(overrides, config_dir, jobs, gaps)}")
    return False


def stand(jobs: Sequence[Planned]) -> list[Run]:
    """Return how each planned cell stands: kept, failed or missing."""
    cells = [job.cell() for job in jobs]
    return list(look_for(dict(enumerate(cells)), places_of(jobs[0].values)).values())


def _totals(runs: Sequence[Run]) -> Iterator[str]:
    counts = Counter("done" if run.is_done else run.state for run in runs)
    parts = [f"{counts[mark]} {mark}" for mark in ("done", "failed", "missing") if counts[mark]]
    yield f"{len(runs)} cells: {', '.join(parts)}"
    for run in runs:
        if run.state == "failed":
            yield f"  {name_text(run.labels)} FAILED: {run.reason}"
            yield f"    {run.results().path / TRACEBACK}"
    unknown = [run for run in runs if run.state == "missing" and run.reason]
    yield from dict.fromkeys(f"  dataset {run.labels['dataset']}: {run.reason}" for run in unknown)


def fill_command(
    overrides: Sequence[str],
    config_dir: Path | None,
    jobs: Sequence[Planned],
    gaps: Sequence[Planned],
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


def _values(jobs: Iterable[Planned]) -> dict[str, list[str]]:
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

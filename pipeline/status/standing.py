"""How a sweep stands: a grid of its cells, the command that completes it; and all runs there are.

In a grid cutoffs are rows, methods are columns, and a cell has one mark.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from omegaconf import DictConfig, OmegaConf
from rich.text import Text

from pipeline.cells.identity import ENGINE, method_digest
from pipeline.cells.read import places_of
from pipeline.cells.runner import look_for
from pipeline.core.methods.base import REGISTRY
from pipeline.files import read_json
from pipeline.results.journal import Run, State, by_setting
from pipeline.results.runs import CONFIG, ENVIRONMENT, TRACEBACK, RunFolder, find_runs, runs_dir
from pipeline.sweeps.plan import Planned, plan
from pipeline.tracking.sweep import content_of
from pipeline.view.names import cutoff_name, name_text
from pipeline.view.text_table import print_table

SUGGESTION = "python -m pipeline.run -m experiment=smoke"
COMMAND = ("python", "-m", "pipeline.run", "-m")
# Sign, colour and meaning of each state, the worst of a cell's runs first.
MARKS: Mapping[State, tuple[str, str, str]] = {
    "failed": ("✗", "red", "failed"),
    "missing": ("·", "yellow", "missing"),
    "kept": ("✓", "green", "done"),
    "stale": ("~", "dim", "of other code"),
}
SHOWN: tuple[State, ...] = ("kept", "failed", "missing", "stale")
FIRST_COLUMN = 10
# These say where and how to run: they name no cell.
ABOUT_RUNNING = ("outputs", "n_jobs", "threads", "force", "tracking", "data", "hydra")


def names_cells(overrides: Sequence[str]) -> bool:
    """Tell whether a command line asks for certain cells."""
    keys = [override.key_or_group.replace("/", ".") for override in _parsed(overrides)]
    return any(key.partition(".")[0] not in ABOUT_RUNNING for key in keys)


def report_sweep(overrides: Sequence[str], config_dir: Path | None) -> bool:
    """Print how a sweep stands; return whether it is complete."""
    jobs = plan(overrides, [] if config_dir is None else [config_dir])
    cells = dict(enumerate(job.cell() for job in jobs))
    runs = list(look_for(cells, places_of(jobs[0].values)).values())
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


def print_grids(runs: Sequence[Run]) -> None:
    """Print a grid for each protocol, dataset and link, and what the marks in them mean."""
    for (protocol, dataset, link), block in by_setting(runs).items():
        done = sum(run.is_done for run in block)
        print(f"{dataset}, {link} link, protocol {protocol}: {done} of {len(block)} done")
        _print_grid(block)
        print()
    used = {run.state for run in runs}
    print("   ".join(f"{MARKS[s][0]} {MARKS[s][2]}" for s in SHOWN if s in used))


def _print_grid(block: Sequence[Run]) -> None:
    cells: dict[tuple[str, str], list[Run]] = {}
    for run in block:
        cells.setdefault((run.labels["cutoff"], run.labels["method"]), []).append(run)
    cutoffs, methods = (list(dict.fromkeys(part)) for part in zip(*cells, strict=True))
    rows: list[list[str | Text]] = [["", *(f"  {method}" for method in methods)]]
    for cutoff in cutoffs:
        marks = [_mark(cells.get((cutoff, method), [])) for method in methods]
        rows.append([f"  {cutoff_name(cutoff)}", *marks])
    print_table(rows, FIRST_COLUMN, justify="center")


def _mark(runs: Sequence[Run]) -> Text:
    """Return the mark of a cell; where it stands for several runs, how many are done."""
    counted = [run for run in runs if run.state != "stale"] or runs
    if not counted:
        return Text()
    state = next(state for state in MARKS if any(run.state == state for run in counted))
    done = sum(run.is_done for run in counted)
    several = len(counted) > 1 and state != "stale"
    sign, colour, _ = MARKS[state]
    return Text(f"  {done}/{len(counted)}{sign}" if several else f"  {sign}", style=colour)


def _totals(runs: Sequence[Run]) -> Iterator[str]:
    counts = Counter("done" if run.is_done else run.state for run in runs)
    parts = [f"{counts[mark]} {mark}" for mark in ("done", "failed", "missing") if counts[mark]]
    yield f"{len(runs)} cells: {', '.join(parts)}"
    yield from _failures(runs, TRACEBACK)
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
    every, needed = (
        content_of(dict(line.split("=", 1) for line in job.overrides) for job in some)
        for some in (jobs, gaps)
    )
    narrow = {key: needed[key] for key, values in every.items() if len(needed[key]) < len(values)}
    keys = [override.get_key_element() for override in _parsed(overrides)]
    given = dict(zip(keys, overrides, strict=True))
    given.pop("force", None)  # it would compute everything again
    narrowed = {key: f"{key}={','.join(values)}" for key, values in narrow.items()}
    place = () if config_dir is None else ("--config-dir", str(config_dir))
    return shlex.join([*COMMAND, *place, *{**given, **narrowed}.values()])


def _parsed(overrides: Sequence[str]) -> list[Override]:
    return OverridesParser.create().parse_overrides(list(overrides))


def report_all(overrides: Sequence[str], config_dir: Path | None) -> bool:
    """Print what is in outputs/runs; return whether there is something and none of it failed."""
    (job,) = plan(overrides, [] if config_dir is None else [config_dir])
    outputs = places_of(job.values).outputs
    runs = [_run(number, folder) for number, folder in enumerate(find_runs(outputs))]
    if not runs:
        print(f"there are no runs in {runs_dir(outputs)}; a first sweep:\n  {SUGGESTION}")
        return False
    print_grids(runs)
    for line in _all_totals(runs):
        print(line)
    return not any(run.state == "failed" for run in runs)


def _run(number: int, folder: RunFolder) -> Run:
    run = Run(number, "stale", folder.labels, str(folder.path))
    if not is_current(folder):
        return run
    state = folder.state
    reason = folder.status.get("reason")
    return run.but(state="kept" if state == "done" else state, reason=reason)


def is_current(run: RunFolder) -> bool:
    """Tell whether a run was made by the engine and method of today.

    Of a method of your own only the engine is compared: where its file lies is not known here.
    """
    made_by = read_json(run.path / ENVIRONMENT)
    if not isinstance(made_by, dict):
        made_by = _identity(run)
    method = REGISTRY.get(run.labels["method"])
    known = method is None or made_by.get("method") == method_digest(method)
    return made_by.get("engine") == ENGINE and known


def _identity(run: RunFolder) -> dict[str, object]:
    """Return what a failed run would have been: it has no environment."""
    try:
        config = OmegaConf.load(run.path / CONFIG)
    except OSError:
        return {}
    return {str(key): config[key] for key in config} if isinstance(config, DictConfig) else {}


def _all_totals(runs: Sequence[Run]) -> Iterator[str]:
    counts = Counter(run.state for run in runs)
    now = [tuple(run.labels.values()) for run in runs if run.state != "stale"]
    several = sum(count > 1 for count in Counter(now).values())
    yield f"{len(runs)} runs: {counts['kept']} done, {counts['failed']} failed"
    if counts["stale"]:
        yield f"{counts['stale']} runs are of another engine or method: they are never read"
    if several:
        yield f"{several} cells have several runs: of other alphas, splits, seeds, settings or data"
    yield from _failures(runs)


def _failures(runs: Sequence[Run], file: str = "") -> Iterator[str]:
    """Yield what failed and why, and the folder, or a file in it, that tells more."""
    for run in runs:
        if run.state == "failed":
            yield f"  {name_text(run.labels)} FAILED: {run.reason}"
            yield f"    {run.results().path / file}"

"""All runs there are, whatever sweeps they come from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from omegaconf import DictConfig, OmegaConf

from pipeline.cells.identity import ENGINE, method_digest
from pipeline.cells.read import places_of
from pipeline.core.methods.base import REGISTRY
from pipeline.files import read_json
from pipeline.results.journal import Run
from pipeline.results.runs import CONFIG, ENVIRONMENT, RunFolder, find_runs, runs_dir
from pipeline.status.grid import print_grids
from pipeline.sweeps.plan import plan
from pipeline.view.names import name_text

SUGGESTION = "python -m pipeline.run -m experiment=smoke"


def report_all(overrides: Sequence[str], config_dir: Path | None) -> bool:
    """Print what is in outputs/runs; return whether there is something and none of it failed."""
    (job,) = plan(overrides, [] if config_dir is None else [config_dir])
    outputs = places_of(job.values).outputs
    runs = [_run(number, folder) for number, folder in enumerate(find_runs(outputs))]
    if not runs:
        print(f"there are no runs in {runs_dir(outputs)}; a first sweep:\n  {SUGGESTION}")
        return False
    print_grids(runs)
    for line in _totals(runs):
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


def _totals(runs: Sequence[Run]) -> Iterator[str]:
    counts = Counter(run.state for run in runs)
    now = [tuple(run.labels.values()) for run in runs if run.state != "stale"]
    several = sum(count > 1 for count in Counter(now).values())
    yield f"{len(runs)} runs: {counts['kept']} done, {counts['failed']} failed"
    if counts["stale"]:
        yield f"{counts['stale']} runs are of another engine or method: they are never read"
    if several:
        yield f"{several} cells have several runs: of other alphas, splits, seeds, settings or data"
    for run in runs:
        if run.state == "failed":
            yield f"  {name_text(run.labels)} FAILED: {run.reason}"
            yield f"    {run.folder}"

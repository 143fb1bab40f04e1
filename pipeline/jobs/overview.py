"""All runs there are, whatever sweeps they come from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from omegaconf import DictConfig, OmegaConf

from pipeline.core.methods.base import REGISTRY
from pipeline.jobs.identity import ENGINE, method_digest
from pipeline.jobs.lines import name_text
from pipeline.jobs.marks import Spot, grids, legend
from pipeline.jobs.task import places_of
from pipeline.results.files import read_json
from pipeline.results.runs import CONFIG, ENVIRONMENT, RunFolder, find_runs, runs_dir
from pipeline.sweeps.plan import plan

SUGGESTION = "python -m pipeline.run -m experiment=smoke"


def report_all(overrides: Sequence[str], config_dir: Path | None, colour: bool) -> bool:
    """Print what is in outputs/runs; return whether there is something and none of it failed."""
    (job,) = plan(overrides, [] if config_dir is None else [config_dir])
    outputs = places_of(job.values).outputs
    runs = list(find_runs(outputs))
    if not runs:
        print(f"there are no runs in {runs_dir(outputs)}; a first sweep:\n  {SUGGESTION}")
        return False
    spots = [_spot(run) for run in runs]
    for line in (*grids(spots, colour), legend(spots), *_totals(runs, spots)):
        print(line)
    return not any(spot.mark == "failed" for spot in spots)


def _spot(run: RunFolder) -> Spot:
    return Spot(run.labels, run.state if is_current(run) else "stale")


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


def _totals(runs: Sequence[RunFolder], spots: Sequence[Spot]) -> Iterator[str]:
    counts = Counter(spot.mark for spot in spots)
    now = [tuple(spot.labels.values()) for spot in spots if spot.mark != "stale"]
    several = sum(count > 1 for count in Counter(now).values())
    yield f"{len(runs)} runs: {counts['done']} done, {counts['failed']} failed"
    if counts["stale"]:
        yield f"{counts['stale']} runs are of another engine or method: they are never read"
    if several:
        yield f"{several} cells have several runs: of other alphas, splits, seeds, settings or data"
    for run, spot in zip(runs, spots, strict=True):
        if spot.mark == "failed":
            yield f"  {name_text(run.labels)} FAILED: {run.status.get('reason')}"
            yield f"    {run.path}"

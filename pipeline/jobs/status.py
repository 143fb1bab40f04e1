"""How a sweep stands, cell by cell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from hydra.core.override_parser.overrides_parser import OverridesParser

from pipeline.jobs.cell import Cell, make_cell
from pipeline.jobs.gaps import fill_command
from pipeline.jobs.lines import name_text
from pipeline.jobs.look import Found, look_for
from pipeline.jobs.marks import Spot, grids, legend
from pipeline.jobs.task import places_of
from pipeline.results.runs import TRACEBACK
from pipeline.sweeps.plan import PlannedJob, plan

# These say where and how to run: they name no cell.
ABOUT_RUNNING = ("outputs", "n_jobs", "threads", "force", "tracking", "data", "hydra")


@dataclass(frozen=True)
class Standing:
    """How one cell stands.

    Attributes:
        cell: the cell.
        spot: its labels and mark.
        reason: of a failure, or why its results cannot even be looked for.
        trace: file with the traceback of a failure.
    """

    cell: Cell
    spot: Spot
    reason: str | None = None
    trace: Path | None = None


def names_cells(overrides: Sequence[str]) -> bool:
    """Tell whether a command line asks for certain cells."""
    parsed = OverridesParser.create().parse_overrides(list(overrides))
    keys = [override.key_or_group.replace("/", ".").partition(".")[0] for override in parsed]
    return any(key not in ABOUT_RUNNING for key in keys)


def report_sweep(overrides: Sequence[str], config_dir: Path | None, colour: bool) -> bool:
    """Print how a sweep stands; return whether it is complete."""
    jobs = plan(overrides, [] if config_dir is None else [config_dir])
    standings = stand(jobs)
    spots = [standing.spot for standing in standings]
    for line in (*grids(spots, colour), legend(spots), *_totals(standings)):
        print(line)
    gaps = [job for job, spot in zip(jobs, spots, strict=True) if spot.mark != "done"]
    if not gaps:
        print("nothing is missing")
        return True
    print("to fill the gaps:")
    print(f"  {fill_command(overrides, config_dir, jobs, gaps)}")
    return False


def stand(jobs: Sequence[PlannedJob]) -> list[Standing]:
    """Return how each job's cell stands."""
    cells = [make_cell(job.values, job.config_dirs) for job in jobs]
    found = look_for(cells, places_of(jobs[0].values))
    return [_standing(cell, one) for cell, one in zip(cells, found, strict=True)]


def _standing(cell: Cell, found: Found) -> Standing:
    if found.folder is None:
        return Standing(cell, Spot(cell.labels, "missing"), found.reason)
    state = found.folder.state
    if state != "failed":
        return Standing(cell, Spot(cell.labels, state))
    reason = str(found.folder.status.get("reason"))
    return Standing(cell, Spot(cell.labels, state), reason, found.folder.path / TRACEBACK)


def _totals(standings: Sequence[Standing]) -> Iterator[str]:
    counts = Counter(standing.spot.mark for standing in standings)
    parts = [f"{counts[mark]} {mark}" for mark in ("done", "failed", "missing") if counts[mark]]
    yield f"{len(standings)} cells: {', '.join(parts)}"
    failed = [standing for standing in standings if standing.spot.mark == "failed"]
    for standing in failed:
        yield f"  {name_text(standing.cell.labels)} FAILED: {standing.reason}"
        yield f"    {standing.trace}"
    unknown = {
        f"  dataset {standing.cell.dataset_label}: {standing.reason}": None
        for standing in standings
        if standing.spot.mark == "missing" and standing.reason
    }
    yield from unknown

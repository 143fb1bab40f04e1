"""The cells of an experiment with what they found; those that are not there yet are computed.

A collection (pipeline/paper/collection.py) has one result for each dataset, link, cutoff and
method. Here a dataset comes in many sizes and seeds, so the run folders are read themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.jobs.blocks import run_blocks
from pipeline.jobs.cell import Cell, make_cell
from pipeline.jobs.early import check_writable
from pipeline.jobs.gather import teller
from pipeline.jobs.lines import name_text
from pipeline.jobs.plan import plan
from pipeline.jobs.task import places_of
from pipeline.results.outcome import Outcome


@dataclass(frozen=True)
class Result:
    """A cell and what it found."""

    cell: Cell
    outcome: Outcome


def results_of(experiment: str, overrides: Sequence[str] = ()) -> list[Result]:
    """Return the results of an experiment, in the order of its sweep.

    Args:
        experiment: its name in conf/experiment.
        overrides: as on the command line of ``python -m pipeline.run -m``.
    """
    jobs = plan([f"experiment={experiment}", *overrides])
    cells = [make_cell(job.values, job.config_dirs) for job in jobs]
    values = jobs[0].values
    places = places_of(values)
    check_writable(places.outputs)
    runs = run_blocks(cells, places, values["n_jobs"], values["force"], teller(len(cells)))
    failed = [run for run in runs if run.state == "failed"]
    if failed:
        first = f"{name_text(failed[0].cell.labels)}: {failed[0].reason}"
        raise ValueError(
            f"experiment={experiment}: {len(failed)} of {len(runs)} cells failed, first {first}"
        )
    return [Result(run.cell, run.folder.outcome()) for run in runs if run.folder is not None]

"""From planned configs to cells, and to how they are to be run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pipeline.jobs.cell import Cell, make_cell
from pipeline.jobs.early import check_machine, check_sources
from pipeline.jobs.errors import MethodError
from pipeline.jobs.task import places_of
from pipeline.sweeps.plan import PlannedJob
from pipeline.sweeps.run import Executor, Order


def read_cells(jobs: Sequence[PlannedJob]) -> tuple[dict[int, Cell], dict[int, MethodError]]:
    """Return the cells by number; and, where methods are swept, those of methods that are broken.

    Raises:
        ConfigError: where a cell makes no sense, or none can be run.
    """
    cells, broken = {}, {}
    for number, job in enumerate(jobs):
        check_machine(job.values)
        check_sources(job.values["data"])
        try:
            cells[number] = make_cell(job.values, job.config_dirs)
        except MethodError as error:
            broken[number] = error
    if not cells:
        raise broken[0]
    return cells, broken


def order_of(values: Mapping[str, Any], executor: Executor, n_jobs: int) -> Order:
    """Return how the cells of a config are to be run."""
    import joblib

    most = {} if values["part"] is None else {"most": values["part"]}
    return Order(
        places=places_of(dict(values)),
        executor=executor,
        workers=joblib.effective_n_jobs(n_jobs),
        force=values["force"],
        threads=values["threads"],
        **most,
    )

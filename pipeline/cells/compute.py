"""From cells to their outcomes: one call of the engine for all cells of a problem."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
from threadpoolctl import threadpool_limits

from pipeline.cells.cell import Cell
from pipeline.cells.problem import Problem
from pipeline.core.engine import simulate
from pipeline.core.lanes import Draws, Lane, Simulation, grid
from pipeline.core.learner import TimeUnit
from pipeline.core.loss import ABOVE, ACCEPTED, MISSED, SIZE
from pipeline.core.tuning import Tuned, tune
from pipeline.results.outcome import COUNTS, Columns, Outcome

Progress = Callable[[int, int], None]


def compute(
    cells: Sequence[Cell], problem: Problem, threads: int = 1, progress: Progress | None = None
) -> list[Outcome]:
    """Return the outcome of each cell; all must belong to the problem and share their splits.

    Args:
        cells: what to run.
        problem: data, truth and splits.
        threads: lanes that run at the same time; the results do not depend on it.
        progress: is told how many lanes of how many are done.
    """
    first = cells[0]
    lanes = [_lanes(cell, problem) for cell in cells]
    dataset, setting = problem.dataset, first.setting
    with threadpool_limits(limits=1, user_api="blas"):  # else the last bits hang on the cores
        simulation = simulate(
            *(dataset.X, dataset.y),
            truth=problem.truth,
            splits=problem.splits,
            lanes=[lane for part in lanes for lane in part],
            spec=problem.spec,
            batch_size=setting.batch_size,
            time=cast(TimeUnit, setting.time),
            delay=setting.delay,
            draws=cast(Draws, setting.draws),
            seed=first.seed,
            group=None if dataset.group is None else dataset.group.codes,
            n_threads=threads,
            curve_points=first.curve_points,
            progress=progress,
        )
    ends = np.cumsum([len(part) for part in lanes])
    parts = [slice(end - len(part), end) for end, part in zip(ends, lanes, strict=True)]
    return [
        _outcome(cell, problem, _part(simulation, part))
        for cell, part in zip(cells, parts, strict=True)
    ]


def _lanes(cell: Cell, problem: Problem) -> list[Lane]:
    value = problem.cutoff_value(cell.cutoff)
    every = grid([cell.method], cell.alphas, [value], max(cell.splits) + 1)
    return [lane for lane in every if lane.split in cell.splits]


def _part(simulation: Simulation, rows: slice) -> Simulation:
    """Return the simulation of some lanes only."""
    return replace(
        simulation,
        lanes=simulation.lanes[rows],
        loss=simulation.loss[rows],
        curve=simulation.curve[rows],
        counts=simulation.counts[rows],
        group_loss=simulation.group_loss[rows],
    )


def _outcome(cell: Cell, problem: Problem, simulation: Simulation) -> Outcome:
    (best,) = tune(simulation).values()
    grouped = problem.dataset.group is not None
    return Outcome(
        losses=_losses(simulation),
        curves=_curves(simulation, best),
        groups=_groups(simulation, problem) if grouped else None,
        summary=_summary(cell, problem, simulation, best),
    )


def _losses(simulation: Simulation) -> Columns:
    lanes, counts = simulation.lanes, simulation.counts.sum(axis=1)
    return {
        "alpha": np.array([lane.alpha for lane in lanes]),
        "split": np.array([lane.split for lane in lanes]),
        "loss": simulation.loss,
        **{name: counts[:, column] for column, name in enumerate(COUNTS)},
    }


def _curves(simulation: Simulation, best: Tuned) -> Columns:
    rounds, chosen = simulation.rounds, best.lanes
    return {
        "split": np.repeat([simulation.lanes[lane].split for lane in chosen], len(rounds)),
        "round": np.tile(rounds, len(chosen)),
        "loss": simulation.curve[chosen].ravel(),
    }


def _groups(simulation: Simulation, problem: Problem) -> Columns:
    assert problem.dataset.group is not None
    names = np.array(problem.dataset.group.names, dtype=object)
    lanes, n = simulation.lanes, len(names)
    counts = simulation.counts.reshape(-1, simulation.counts.shape[-1])
    return {
        "alpha": np.repeat([lane.alpha for lane in lanes], n),
        "split": np.repeat([lane.split for lane in lanes], n),
        "group": np.tile(names, len(lanes)),
        "loss": simulation.group_loss.ravel(),
        **{name: counts[:, column] for column, name in enumerate(COUNTS)},
    }


def _summary(cell: Cell, problem: Problem, simulation: Simulation, best: Tuned) -> dict[str, Any]:
    counts = simulation.counts[best.lanes].sum(axis=(0, 1))
    error = best.standard_error
    return {
        "alpha": best.alpha,
        "loss": best.mean,
        "standard_error": None if np.isnan(error) else error,
        "accepted_rate": _ratio(counts[ACCEPTED], counts[SIZE]),
        "missed_rate": _ratio(counts[MISSED], counts[ABOVE]),
        "cutoff_value": best.cutoff,
        "n_rounds": simulation.n_rounds,
        "n_stream": len(problem.splits[0].stream),
        "n_initial": len(problem.splits[0].initial),
        "n_lanes": len(simulation.lanes),
        "n_splits": len(cell.splits),
    }


def _ratio(part: int, whole: int) -> float | None:
    """Return a share, None of nothing."""
    return float(part / whole) if whole else None

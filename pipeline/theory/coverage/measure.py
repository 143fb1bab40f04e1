"""Algorithm 2 with its constants: do its confidence widths hold, and how wide are they.

Three questions: in which share of runs the confidence statement holds in every round t ≥ 2; how
much smaller a width would have done; and how R_T compares with the bound of Theorem 2.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from pipeline.cells.problem import problem_of
from pipeline.cells.read import places_of
from pipeline.data.sources import Settings
from pipeline.sweeps.plan import plan
from pipeline.theory.coverage.confidence import Followed, follow, loss_bound, setting_of, theory_of
from pipeline.theory.coverage.rejection import bound_says_something, first_rejected, first_rejection
from pipeline.theory.estimates import ends, share_interval
from pipeline.theory.experiment import Measured, Result, results_of

EXPERIMENTS = THEORY, TUNED = ("confidence_theory", "confidence")
OPTIONS = {
    "runs": "seeds that are followed",
    "long": "rows in which the first rejection is looked for",
    "sizes": "rows of the cells",
}
LONGEST_REFIT = 10_200  # rows: beyond, a refit after every row takes hours
LONG_SEEDS = 3  # runs in which the first rejection is looked for
POINTS = 60


@dataclass(frozen=True)
class Coverage:
    """The runs of one link.

    Attributes:
        result: of the smallest size; its cell is what was followed.
        runs: one for each seed of the data.
        first: rounds of the first rejection in long runs; None where there is none.
    """

    result: Result
    runs: Sequence[Followed]
    first: Sequence[int | None]

    @property
    def link(self) -> str:
        """Return the name of the link."""
        return self.result.cell.link


def measure(options: argparse.Namespace) -> Measured[Coverage]:
    """Follow seeded runs and run the cells."""
    theory, tuned = (_sweep(name, options) for name in (THEORY, TUNED))
    data = places_of(plan([f"experiment={THEORY}", *options.overrides])[0].values).data
    every = [
        coverage_of(result, data, options.runs, options.long)
        for result in theory
        if result.cell.dataset["n"] == min(options.sizes)
    ]
    tables = {
        "coverage": pd.DataFrame([row_of(one, data) for one in every]),
        "widths": pd.concat([widths_of(one) for one in every], ignore_index=True),
        "bound": pd.DataFrame([bound_row(*pair, data) for pair in zip(theory, tuned, strict=True)]),
    }
    return Measured(tables, every)


def said(found: Measured[Coverage]) -> Iterator[str]:
    """Yield a line for each link."""
    for row in found.tables["coverage"].to_dict("records"):
        yield (
            f"{row['link']}: the statement holds in {row['held']} of {row['runs']} runs; "
            f"{row['enough']:.2g} of its width would do"
        )


def _sweep(experiment: str, options: argparse.Namespace) -> list[Result]:
    """Return the cells of all sizes and links, the long ones of the linear link only."""
    found, changes = [], options.overrides
    if experiment == TUNED:  # whose method has none of the constants
        changes = [change for change in changes if not change.startswith("method.")]
    for n in sorted(options.sizes):
        links = [] if n <= LONGEST_REFIT else ["link=linear"]
        found += results_of(experiment, [*changes, f"dataset.n={n}", *links])
    return found


def coverage_of(result: Result, data: Settings, runs: int, long: int) -> Coverage:
    """Follow the runs of a link, and look for its first rejection where runs can be long."""
    cell = result.cell
    followed = [follow(cell, data, seed) for seed in range(runs)]
    seeds = range(LONG_SEEDS if cell.link == "linear" else 0)
    first = [first_rejected(cell, data, long, seed) for seed in seeds]
    return Coverage(result, followed, first)


def row_of(coverage: Coverage, data: Settings) -> dict[str, Any]:
    """Return the figures of a link."""
    cell, runs = coverage.result.cell, coverage.runs
    method, problem = theory_of(cell), problem_of(cell, data)
    setting, n_initial = setting_of(cell, problem), len(problem.splits[0].initial)
    worst = np.array([run.worst for run in runs])
    held = int((worst <= 1.0).sum())
    everything = float(np.maximum(setting.cutoff - problem.truth, 0.0).mean())
    found, length = [t for t in coverage.first if t is not None], float(cell.dataset["coef_norm"])
    return {
        "link": cell.link,
        "runs": len(runs),
        "rounds": len(runs[0].rho),
        "delta": method.failure_probability,
        "held": held,
        "share": held / len(runs),
        **ends(share_interval(held, len(runs)), "share_"),
        "rho_last": float(runs[0].rho[-1]),
        "worst_median": float(np.median(worst)),
        "worst_max": float(worst.max()),
        "enough": float(np.quantile(worst, 1.0 - method.failure_probability, method="higher")),
        "accepted_share": sum(run.n_accepted for run in runs) / sum(run.n_rows for run in runs),
        "rejects_from": first_rejection(method, setting, length, n_initial),
        "rejects_measured": float(np.median(found)) if found else np.nan,
        "bound_says_from": bound_says_something(
            method, setting, n_initial, everything * cell.setting.batch_size
        ),
    }


def widths_of(coverage: Coverage) -> pd.DataFrame:
    """Return ρ_t and what it had to be, over runs, at some rounds t ≥ 2."""
    needed = np.array([run.needed for run in coverage.runs])
    rho = coverage.runs[0].rho
    rounds = np.unique(np.geomspace(2, len(rho), POINTS).round().astype(int))
    part = needed[:, rounds - 1]
    return pd.DataFrame(
        {
            "link": coverage.link,
            "round": rounds,
            "rho": rho[rounds - 1],
            "needed_median": np.median(part, axis=0),
            "needed_95": np.quantile(part, 0.95, axis=0),
            "needed_max": part.max(axis=0),
        }
    )


def bound_row(theory: Result, tuned: Result, data: Settings) -> dict[str, Any]:
    """Return R_T beside the bound of Theorem 2, and the tuned alpha of ours beside ρ_T."""
    cell, summary, ours = theory.cell, theory.outcome.summary, tuned.outcome.summary
    if (cell.link, cell.dataset) != (tuned.cell.link, tuned.cell.dataset):
        raise ValueError(f"{cell.link}: {THEORY} and {TUNED} are about different data")
    problem, method = problem_of(cell, data), theory_of(cell)
    setting, T = setting_of(cell, problem), int(summary["n_rounds"])
    bound, rho = loss_bound(method, setting, T, int(summary["n_initial"])), method.rho(T, setting)
    return {
        "link": cell.link,
        "rounds": T,
        "splits": summary["n_splits"],
        "loss": summary["loss"],
        "standard_error": summary["standard_error"],
        "bound": bound,
        "bound_over_loss": bound / summary["loss"],
        "accepted_share": summary["accepted_rate"],
        "rho": rho,
        "tuned_alpha": ours["alpha"],
        "tuned_over_rho": ours["alpha"] / rho,
        "ours_loss": ours["loss"],
        "ours_standard_error": ours["standard_error"],
    }

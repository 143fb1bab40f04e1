"""Algorithm 3 beside Proposition 2: does d_t bound the distance to β*, who is decided wrongly.

The cells of experiment=sgd run the algorithm through the pipeline. What a cell does not keep, β_t
and d_t, is followed here: with the same settings, without noise, with noise below the accuracy α,
with the logistic link, and with −s_t above the mean.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from pipeline.cells.cell import Cell
from pipeline.core.links import Linear, get_link
from pipeline.core.methods.sgd import Sgd
from pipeline.theory.estimates import ends, mean_estimate
from pipeline.theory.experiment import Measured, Result, results_of
from pipeline.theory.sgd.path import Case, Path, follow

EXPERIMENTS = ("sgd", "sgd_high")
OPTIONS = {"runs": "seeds that are followed"}
POINTS = 120
# The logistic link is flatter: noise and accuracy are smaller, and the mean is projected.
LOGISTIC: dict[str, float] = {"accuracy": 0.03, "noise_bound": 0.1, "distance_slack": 8.0}
LOGISTIC_ZETA, RADIUS = 0.4, 4.0


def measure(options: argparse.Namespace) -> Measured[Case]:
    """Run the cells and follow seeded runs."""
    results = [r for name in EXPERIMENTS for r in results_of(name, options.overrides)]
    cases = cases_of(results[0].cell)
    paths = {case.name: [follow(case, seed) for seed in range(options.runs)] for case in cases}
    tables = {
        "sgd": pd.DataFrame([row_of(case, paths[case.name]) for case in cases]),
        "sgd_paths": pd.concat([points_of(case, paths[case.name]) for case in cases]),
        "sgd_cells": pd.DataFrame([cell_row(result) for result in results]),
    }
    return Measured(tables, cases)


def said(found: Measured[Case]) -> Iterator[str]:
    """Yield a line for each case."""
    for row in found.tables["sgd"].to_dict("records"):
        yield (
            f"{row['case']}: d_t bounds the distance in {row['bounded']} of {row['runs']} runs, "
            f"{row['mistakes']:.2%} decided wrongly (bound {row['error_probability']:.2f})"
        )


def cases_of(cell: Cell) -> list[Case]:
    """Return what is followed: the cell's own setting and four variations."""
    method, data = cell.method, cell.dataset
    if not isinstance(method, Sgd) or cell.cutoff.value is None:
        raise ValueError(f"experiment={EXPERIMENTS[0]}: set method=sgd and a cutoff_value")
    n = int(data["n"]) - int(cell.setting.initial["count"])
    B, alpha = float(data["noise"]), method.accuracy
    own = Case(
        f"noise B = {B:g} > α = {alpha:g}" if alpha < B else f"noise B = {B:g}",
        *(Linear(), method, abs(cell.cutoff.value), int(data["d"]), n, B),
        float(data["coef_norm"]),
    )
    small = alpha / 2
    logistic = replace(method, radius=RADIUS, **LOGISTIC)  # type: ignore[arg-type]
    return [
        replace(own, name="no noise", noise=0.0, method=replace(method, noise_bound=0.0)),
        replace(
            own,
            name=f"noise B = {small:g} < α = {alpha:g}",
            noise=small,
            method=replace(method, noise_bound=small),
        ),
        own,
        replace(
            own,
            name=f"logistic, B = {logistic.noise_bound:g} > α = {logistic.accuracy:g}",
            link=get_link("logistic"),
            method=logistic,
            zeta=LOGISTIC_ZETA,
            noise=logistic.noise_bound,
        ),
        replace(
            own,
            name=f"cutoff above, −s_t, B = {B:g}",
            method=replace(method, high_cutoff=True),
        ),
    ]


def row_of(case: Case, paths: Sequence[Path]) -> dict[str, Any]:
    """Return the figures of a case."""
    half = case.n // 2
    wrong = np.array([path.mistakes.mean() for path in paths])
    estimate = mean_estimate(wrong, "sgd")
    short = [path.falls_short for path in paths]
    zero = [path.rounds[path.bounds[1:] == 0.0][0] for path in paths if path.bounds[-1] == 0.0]
    above = np.mean([path.above.mean() for path in paths])
    return {
        "case": case.name,
        "runs": len(paths),
        "rounds": case.n,
        "cutoff": case.cutoff,
        "updates": float(np.mean([len(path.rounds) for path in paths])),
        "falls_short": float(np.concatenate(short).mean()) if sum(map(len, short)) else np.nan,
        "bounded": sum(bool((path.distances <= path.bounds + 1e-12).all()) for path in paths),
        "zero": len(zero),
        "zero_round": float(np.median(zero)) if zero else np.nan,
        "distance": float(np.mean([path.distances[-1] for path in paths])),
        "bound": float(np.mean([path.bounds[-1] for path in paths])),
        "largest_error": max(path.largest_error for path in paths),
        "error_bound": case.accuracy,
        "accepted": float(np.mean([path.accepted.mean() for path in paths])),
        "mistakes": estimate.value,
        **ends(estimate.interval, "mistakes_"),
        "mistakes_late": float(np.mean([path.mistakes[half:].mean() for path in paths])),
        "trivial": float(above if case.method.high_cutoff else 1.0 - above),
        "error_probability": case.error_probability,
    }


def points_of(case: Case, paths: Sequence[Path]) -> pd.DataFrame:
    """Return ‖β_t − β*‖ and d_t over runs, at some rounds."""
    t = np.unique(np.geomspace(1, case.n, POINTS).round().astype(np.int64))
    distance = np.array([path.at(t, path.distances) for path in paths])
    bound = np.array([path.at(t, path.bounds) for path in paths])
    return pd.DataFrame(
        {
            "case": case.name,
            "round": t,
            "distance": np.median(distance, axis=0),
            "distance_low": np.quantile(distance, 0.1, axis=0),
            "distance_high": np.quantile(distance, 0.9, axis=0),
            "bound": np.median(bound, axis=0),
            "bound_low": np.quantile(bound, 0.1, axis=0),
            "bound_high": np.quantile(bound, 0.9, axis=0),
        }
    )


def cell_row(result: Result) -> dict[str, Any]:
    """Return what a cell of the pipeline found."""
    cell, found = result.cell, result.outcome
    assert isinstance(cell.method, Sgd)
    wrong = (found.losses["missed"] + found.losses["wasted"]).sum() / found.losses["rows"].sum()
    return {
        "cutoff": cell.cutoff.value,
        "s_t": "−" if cell.method.high_cutoff else "+",
        "rounds": found.summary["n_rounds"],
        "splits": found.summary["n_splits"],
        "loss": found.summary["loss"],
        "standard_error": found.summary["standard_error"],
        "accepted": found.summary["accepted_rate"],
        "mistakes": float(wrong),
    }

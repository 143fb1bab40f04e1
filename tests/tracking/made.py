"""Run folders with made-up figures: what tracking is shown, and what it is compared with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.results.journal import Journal, Run
from pipeline.results.outcome import COUNTS, SCHEMAS, Columns, Outcome
from pipeline.results.runs import RunFolder, runs_dir
from pipeline.tracking.sweep import Sweep

TODAY = Sweep({"sweep": "today"})
HASH = "0123456789abcdef" * 4
SPLITS, ROUNDS, ALPHAS, TUNED = 10, 739, [2.0**k for k in range(-10, 5)], 0.125
HALF_LIFE = {"ours": 60.0, "margin": 150.0}

CONFIG = """\
config:
  protocol: inferred
  dataset: {name: diabetes, group: null}
  link: linear
  cutoff: {quantile: 0.5}
  method: {name: METHOD, horizon: 10000}
  alphas: ALPHAS
  splits: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
  seed: 0
  setting:
    initial: {share: 0.05, count: 1000}
    batch_size: 1
    time: rounds
    model: {regularization: 1.0, fit_intercept: null}
  curve_points: 1000
data: 0123
method: '4567'
engine: 89ab
"""


def make_run(
    outputs: Path,
    method: str = "ours",
    number: int = 0,
    groups: Sequence[str] = (),
    options: str = "",
    cutoff: str = "0.5",
    batch: int = 1,
    n_stream: int = ROUNDS,
    alphas: Sequence[float] = ALPHAS,
) -> Run:
    """Write a run folder and return its job; ``options`` are those of the method."""
    folder = folder_of(outputs, method, cutoff)
    outcome = made_up(method, number, groups, alphas)
    outcome.summary["n_stream"] = n_stream
    config = config_of(method).replace("horizon: 10000", options or "horizon: 10000")
    config = config.replace("batch_size: 1", f"batch_size: {batch}")
    folder.save(outcome, config, environment(), 1.5)
    return Run(
        number, "computed", folder.labels, str(folder.path), outcome.summary, seconds=1.5,
        progress=1.0,
    )  # fmt: skip


def make_failure(outputs: Path, method: str = "noise", number: int = 1) -> Run:
    """Write the run folder of a failure and return its job."""
    folder = folder_of(outputs, method)
    folder.fail(config_of(method), "the matrix is singular", "Traceback …\nLinAlgError: singular\n")
    reason = "the matrix is singular"
    return Run(number, "failed", folder.labels, str(folder.path), reason=reason, seconds=0.5)


def make_sweep(outputs: Path, entries: list[Run], name: str, **about: Any) -> Journal:
    """Write the journal of a sweep."""
    journal = Journal(outputs / "sweeps" / name)
    told = {"command": "python -m pipeline.run -m", "jobs": len(entries), "sweep": name}
    journal.open({**told, "started": "2026-01-01T00:00:00+00:00", **about})
    for entry in entries:
        journal.write(entry)
    return journal


def folder_of(outputs: Path, method: str, cutoff: str = "0.5") -> RunFolder:
    parts = ("inferred", "diabetes", "linear", cutoff, method, "abcdef012345")
    return RunFolder(runs_dir(outputs).joinpath(*parts))


def config_of(method: str) -> str:
    return CONFIG.replace("METHOD", method).replace("ALPHAS", str(ALPHAS))


def environment() -> dict[str, Any]:
    data = {"hash": HASH, "source": "bundled"}
    return {"python": "3.11.0", "commit": "c0ffee" * 6 + "c0ff+", "data": data}


def made_up(
    method: str, seed: int, groups: Sequence[str], alphas: Sequence[float] = ALPHAS
) -> Outcome:
    curves = _curves(method, seed)
    final = curves["loss"].reshape(SPLITS, ROUNDS)[:, -1]
    return Outcome(
        losses=_losses(final, alphas),
        curves=curves,
        groups=_groups(final, groups) if groups else None,
        summary={
            "alpha": TUNED,
            "loss": float(final.mean()),
            "standard_error": float(final.std(ddof=1) / np.sqrt(SPLITS)),
            "accepted_rate": 0.4,
            "missed_rate": None,
            "cutoff_value": 0.51,
            "n_rounds": ROUNDS,
            "n_stream": ROUNDS,
            "n_initial": 29,
        },
    )


def _curves(method: str, seed: int) -> Columns:
    """A loss that becomes rarer with time: R_t is its sum."""
    rng = np.random.default_rng(seed)
    rounds = np.arange(1, ROUNDS + 1)
    rate = 0.02 + 0.3 * 0.5 ** (rounds / HALF_LIFE.get(method, 300.0))
    lost = rng.exponential(0.3, (SPLITS, ROUNDS)) * (rng.random((SPLITS, ROUNDS)) < rate)
    return {
        "split": np.repeat(np.arange(SPLITS), ROUNDS),
        "round": np.tile(rounds, SPLITS),
        "loss": lost.cumsum(axis=1).ravel(),
    }


def _losses(final: np.ndarray, alphas: Sequence[float]) -> Columns:
    """The loss grows with the distance to the tuned alpha."""
    n = len(alphas) * SPLITS
    columns = {
        "alpha": np.repeat(alphas, SPLITS),
        "split": np.tile(np.arange(SPLITS), len(alphas)),
        "loss": np.outer(1 + np.abs(np.log1p(alphas) - np.log1p(TUNED)), final).ravel(),
    }
    return {**columns, **{name: np.full(n, 7) for name in COUNTS}}


def _groups(final: np.ndarray, names: Sequence[str]) -> Columns:
    one = _losses(final, [TUNED])
    columns = {name: np.tile(values, len(names)) for name, values in one.items()}
    columns["group"] = np.repeat(np.array(names, dtype=object), SPLITS)
    return {name: columns[name] for name in SCHEMAS["groups"]}

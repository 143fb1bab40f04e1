"""Results made up for tests: cells as configs make them, with losses that are known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pipeline.cells.cell import Cell
from pipeline.cells.read import make_cell
from pipeline.results.outcome import Outcome
from pipeline.theory.driver import Result
from tests.cells.configs import values


def cell(*overrides: str) -> Cell:
    return make_cell(values(*overrides))


def sized(dataset: str, method: str, n: int, seed: int, loss: float) -> Result:
    """Return a run of ``experiment=rates`` that decided on n − 20 rows and accepted half."""
    made = cell(
        "experiment=rates", f"dataset={dataset}", f"method={method}", f"dataset.n={n}",
        f"dataset.seed={seed}",
    )  # fmt: skip
    stream = n - 20
    return Result(made, _outcome([loss], np.array([1, stream]), [[0.0, loss]], None, stream))


def trapped(
    method: str, accepted: Sequence[int], missed: Sequence[int], losses: np.ndarray, seed: int = 0
) -> Result:
    """Return a cell of ``experiment=greedy_trap``: rows v by split, R_t at rounds 1 … T."""
    made = cell("experiment=greedy_trap", f"method={method}", f"dataset.seed={seed}")
    rounds = np.arange(1, losses.shape[1] + 1)
    counts = list(zip(accepted, missed, strict=True))
    return Result(made, _outcome(losses[:, -1], rounds, losses, counts, len(rounds)))


def _outcome(
    finals: Sequence[float] | np.ndarray,
    rounds: np.ndarray,
    curves: Sequence[Sequence[float]] | np.ndarray,
    of_v: Sequence[tuple[int, int]] | None,
    n_stream: int,
) -> Outcome:
    n = len(finals)
    splits, none = np.arange(n), np.zeros(n, dtype=np.int64)
    losses = {
        "alpha": np.ones(n), "split": splits, "loss": np.array(finals),
        "rows": none + n_stream, "above": none, "accepted": none + n_stream // 2,
        "missed": none, "wasted": none,
    }  # fmt: skip
    curve = {
        "split": np.repeat(splits, len(rounds)),
        "round": np.tile(rounds, n),
        "loss": np.ravel(np.array(curves)),
    }
    groups = None
    if of_v is not None:
        accepted, missed = np.array(of_v).T
        names = np.array(["v", "others"] * n, dtype=object)
        twice = {"alpha": np.ones(2 * n), "split": np.repeat(splits, 2), "group": names}
        counts = {
            "accepted": np.ravel(np.column_stack([accepted, none + 7])),
            "missed": np.ravel(np.column_stack([missed, none + 3])),  # others: missed in each run
        }
        groups = {**twice, **counts}
    return Outcome(losses, curve, groups, {"alpha": 1.0, "n_stream": n_stream})

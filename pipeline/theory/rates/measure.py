"""How R_T grows with T: R_T ≈ C·T^p, beside the powers that the theory proves."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from pipeline.paper.statistics.bootstrap import Estimate
from pipeline.theory.estimates import FloatArray, ends, mean_estimate, power
from pipeline.theory.experiment import Measured, Result, results_of

EXPERIMENTS = ("rates", "rates_passive", "rates_theory", "rates_sgd")
OPTIONS: dict[str, str] = {}
METHODS = ("greedy", "passive", "ours", "ours_log", "ours_theory", "sgd")
TRAP = "greedy_trap"


@dataclass(frozen=True)
class Bound:
    """What the paper proves of a method's power of T."""

    power: float
    kind: str
    source: str


PASSIVE = Bound(2 / 3, "at most", "Proposition 1")
ADAPTIVE = Bound(1 / 2, "at most", "Theorem 2")
TUNED = Bound(1 / 2, "at most, were alpha ρ_t:", "Theorem 2")  # which has another coefficient
GREEDY = Bound(1.0, "at least, in the trap", "Theorem 1")


def bound_of(method: str, dataset: str) -> Bound | None:
    """Return the bound of a method; None where the paper has none."""
    if method == "greedy":
        return GREEDY if dataset == TRAP else None
    known = {"passive": PASSIVE, "ours": TUNED, "ours_log": TUNED, "ours_theory": ADAPTIVE}
    return known.get(method)


@dataclass(frozen=True)
class Growth:
    """R_T of one method on one dataset.

    Attributes:
        dataset: its name.
        method: its name.
        sizes: T, the rows decided on, ascending.
        losses: R_T, runs × sizes.
        accepted: mean share of rows accepted, for each size.
    """

    dataset: str
    method: str
    sizes: FloatArray
    losses: FloatArray
    accepted: FloatArray

    @property
    def power(self) -> Estimate:
        """Return p of R_T ≈ C·T^p over all sizes."""
        return power(self.sizes, self.losses, "rates")

    @property
    def late_power(self) -> float:
        """Return p between the last two sizes."""
        return power(self.sizes[-2:], self.losses[:, -2:], "rates").value


def measure(options: argparse.Namespace) -> Measured[Growth]:
    """Run the experiments: R_T, and its powers of T with their bounds."""
    every = gather([r for name in EXPERIMENTS for r in results_of(name, options.overrides)])
    return Measured({"losses": losses_table(every), "powers": powers_table(every)}, every)


def said(found: Measured[Growth]) -> Iterator[str]:
    """Yield a line for each dataset and method."""
    for row in found.tables["powers"].to_dict("records"):
        yield (
            f"{row['dataset']}, {row['method']}: R_T ~ T^{row['power']:.2f} "
            f"({row['low']:.2f} to {row['high']:.2f})"
        )


def gather(results: Sequence[Result]) -> list[Growth]:
    """Return the growth of each method on each dataset, in the order of METHODS."""
    rows = [row for result in results for row in _rows(result)]
    table = pd.DataFrame(rows, columns=["dataset", "method", "run", "size", "loss", "accepted"])
    found = []
    for dataset in dict.fromkeys(table["dataset"]):
        for method in METHODS:
            part = table[(table["dataset"] == dataset) & (table["method"] == method)]
            if len(part):
                found.append(_growth(dataset, method, part))
    return found


def _rows(result: Result) -> Iterable[tuple[str, str, str, int, float, float]]:
    """Yield a line for each split of a cell, under the only alpha there is."""
    cell, losses = result.cell, result.outcome.losses
    if len(cell.alphas) > 1:
        raise ValueError("alpha: rates are those of one alpha, not one chosen for each T")
    size = int(result.outcome.summary["n_stream"])
    for split, loss, accepted in zip(
        losses["split"], losses["loss"], losses["accepted"], strict=True
    ):
        run = f"{cell.dataset['seed']}/{split}"
        yield cell.dataset_label, cell.method.name, run, size, float(loss), accepted / size


def _growth(dataset: str, method: str, part: pd.DataFrame) -> Growth:
    losses = part.pivot(index="run", columns="size", values="loss")
    if losses.isna().any(axis=None):
        raise ValueError(f"{dataset}, {method}: each seed needs a run of every size dataset.n")
    return Growth(
        dataset=dataset,
        method=method,
        sizes=losses.columns.to_numpy(np.float64),
        losses=losses.to_numpy(np.float64),
        accepted=part.groupby("size")["accepted"].mean().to_numpy(np.float64),
    )


def losses_table(every: Sequence[Growth]) -> pd.DataFrame:
    """Return mean R_T with its interval, a line for each dataset, method and T."""
    rows = []
    for growth in every:
        for column, size in enumerate(growth.sizes):
            estimate = mean_estimate(growth.losses[:, column], "rates")
            rows.append(
                {
                    "dataset": growth.dataset,
                    "method": growth.method,
                    "T": int(size),
                    "runs": len(growth.losses),
                    "loss": estimate.value,
                    **ends(estimate.interval),
                    "accepted": growth.accepted[column],
                }
            )
    return pd.DataFrame(rows)


def powers_table(every: Sequence[Growth]) -> pd.DataFrame:
    """Return the powers of T with intervals and bounds, a line for each dataset and method."""
    rows = []
    for growth in every:
        estimate, bound = growth.power, bound_of(growth.method, growth.dataset)
        rows.append(
            {
                "dataset": growth.dataset,
                "method": growth.method,
                "from": int(growth.sizes[0]),
                "to": int(growth.sizes[-1]),
                "runs": len(growth.losses),
                "power": estimate.value,
                **ends(estimate.interval),
                "last_step": growth.late_power,
                "bound": np.nan if bound is None else bound.power,
                "kind": "" if bound is None else bound.kind,
                "source": "" if bound is None else bound.source,
                "accepted_at_end": growth.accepted[-1],
            }
        )
    return pd.DataFrame(rows)

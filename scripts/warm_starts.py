"""What stands behind the 50 initial rows of the linear tables? ``python scripts/warm_starts.py``.

Greedy with a plain recursive least squares, under other treatments of the initial rows, each held
against the paper's greedy column on the datasets with more than 1,000 rows. Prints a table, and
writes it to ``--out``; docs/forensics.md says what follows from it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pipeline.core.lanes import Split
from pipeline.core.loss import cutoff_at, one_sided_loss
from pipeline.data.dataset import Dataset, load
from pipeline.data.splits import initial_size, stratified_split
from pipeline.files import replacing
from pipeline.paper.comparison.agreement import geometric_mean
from pipeline.paper.comparison.compare import ratio, z_score
from pipeline.paper.published import Setting, published

ROOT = Path(__file__).resolve().parents[1]
FloatArray = NDArray[np.float64]
DATASETS = ("adult", "bank", "compas", "crime", "eeg_eye", "churn")
CUTOFFS = ("0.5", "0.7", "0.9")
FIRST_SPLIT = 30  # none that another experiment uses
SEED = 0


@dataclass(frozen=True)
class Treatment:
    """What is done with the initial rows.

    Attributes:
        share: how many there are, as a share of the rows.
        count: at most so many.
        weight: how much X₀'X₀ counts in A when the stream starts; β is that of a ridge on all.
        prior: what the identity counts in A when the stream starts.
        own_loss: whether their own loss counts: as if all had been ``accepted``, or as the first
            model ``decided``.
        rows: so many rows are drawn of the dataset before anything else.
        scaled: whether their loss is blown up to that of all rows.
    """

    share: float = 0.05
    count: int | None = None
    weight: float = 1.0
    prior: float = 1.0
    own_loss: str | None = None
    rows: int | None = None
    scaled: bool = False


TREATMENTS = {
    "50 rows, as in inferred": Treatment(count=50),
    "5% of the rows, as in stated": Treatment(),
    "5%, A = I when the stream starts": Treatment(weight=0.0),
    "5%, A = 10·I when the stream starts": Treatment(weight=0.0, prior=10.0),
    "5%, X'X of them at 5% of its weight": Treatment(weight=0.05),
    "5%, their own loss counted, all accepted": Treatment(own_loss="accepted"),
    "5%, their own loss counted, as first decided": Treatment(own_loss="decided"),
    "1,000 rows in all, 5% of them": Treatment(rows=1000),
    "1,000 rows in all, loss scaled up": Treatment(rows=1000, scaled=True),
}


def greedy(
    X: FloatArray, y: FloatArray, truth: FloatArray, split: Split, cutoff: float, how: Treatment
) -> tuple[float, list[int]]:
    """Return R_T of greedy and the rows it accepted; it reads no other labels of the stream."""
    X0, y0, truth0 = X[split.initial], y[split.initial], truth[split.initial]
    identity = np.eye(X.shape[1])
    beta = np.linalg.solve(identity + X0.T @ X0, X0.T @ y0)
    inverse = np.linalg.inv(how.prior * identity + how.weight * (X0.T @ X0))
    loss, taken = 0.0, []
    if how.own_loss:
        accepted = X0 @ beta > cutoff if how.own_loss == "decided" else np.ones(len(y0), bool)
        loss = float(one_sided_loss(truth0, cutoff, accepted).sum())
    for row in split.stream:
        x = X[row]
        score = x @ beta
        if (score > cutoff) != (truth[row] > cutoff):
            loss += abs(truth[row] - cutoff)
        if score > cutoff:
            taken.append(int(row))
            u = inverse @ x
            gain = u / (1.0 + x @ u)
            beta = beta + gain * (y[row] - score)
            inverse -= np.outer(gain, u)
    return loss, taken


def draw(y: FloatArray, how: Treatment, number: int) -> tuple[Split, float]:
    """Return a split, and what its loss is multiplied by."""
    n = len(y)
    if how.rows is None or how.rows >= n:
        return stratified_split(y, initial_size(n, how.share, how.count), SEED, number), 1.0
    chosen = np.random.default_rng([SEED, number]).choice(n, how.rows, replace=False)
    size = initial_size(how.rows, how.share, how.count)
    part = stratified_split(y[chosen], size, SEED, number)
    return Split(chosen[part.initial], chosen[part.stream]), n / how.rows if how.scaled else 1.0


def design(data: Dataset) -> FloatArray:
    """Return the rows, with a constant column where the linear tables have one."""
    return np.column_stack([data.X, np.ones(len(data.y))]) if data.intercept else data.X


def screen(datasets: Sequence[str], cutoffs: Sequence[str], n_splits: int) -> pd.DataFrame:
    """Return a line for each treatment, dataset and cutoff."""
    paper = {row.key: row.loss["greedy"] for row in published()}
    lines: list[dict[str, Any]] = []
    for name in datasets:
        data = load(name)
        X = design(data)
        truth = X @ np.linalg.lstsq(X, data.y, rcond=None)[0]
        for cutoff in cutoffs:
            value = cutoff_at(truth, float(cutoff))
            for treatment, how in TREATMENTS.items():
                losses = []
                for number in range(FIRST_SPLIT, FIRST_SPLIT + n_splits):
                    split, factor = draw(data.y, how, number)
                    losses.append(factor * greedy(X, data.y, truth, split, value, how)[0])
                figure, mean = paper[Setting("linear", name, cutoff)], float(np.mean(losses))
                (z,) = z_score([figure], [mean], [np.std(losses, ddof=1)], [n_splits])
                (over,) = ratio([figure], [mean])
                line = {"treatment": treatment, "dataset": name, "cutoff": cutoff}
                lines.append({**line, "paper": figure, "loss": mean, "ratio": over, "z": z})
                print(
                    f"{name:8} {cutoff:4} {treatment:46} ratio {over:5.2f}  z {z:6.1f}", flush=True
                )
    return pd.DataFrame(lines)


def summary(found: pd.DataFrame) -> pd.DataFrame:
    """Return a line for each treatment."""
    groups = found.groupby("treatment", sort=False)
    return pd.DataFrame(
        {
            "figures": groups.size(),
            "agree": groups["z"].agg(lambda z: int((z.abs() < 2).sum())),
            "ratio": groups["ratio"].agg(geometric_mean),
            "spread of log ratio": groups["ratio"].agg(lambda r: float(np.log(r).std())),
            "rms z": groups["z"].agg(lambda z: float(np.sqrt((z**2).mean()))),
        }
    ).reset_index()


def main(arguments: Sequence[str] | None = None) -> int:
    """Screen the treatments and write the table."""
    parser = argparse.ArgumentParser(description="Other treatments of the initial rows.")
    parser.add_argument("--out", type=Path, default=ROOT / "outputs" / "paper" / "forensics")
    parser.add_argument("--datasets", nargs="+", default=DATASETS)
    parser.add_argument("--cutoffs", nargs="+", default=CUTOFFS)
    parser.add_argument("--splits", type=int, default=5)
    options = parser.parse_args(arguments)
    found = screen(options.datasets, options.cutoffs, options.splits)
    with replacing(options.out / "warm_starts.csv") as partial:
        found.to_csv(partial, index=False, lineterminator="\n", float_format="%.6g")
    print(summary(found).to_string(index=False, float_format="%.2f"))
    return 0


if __name__ == "__main__":
    sys.exit(main())

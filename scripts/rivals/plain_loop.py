"""The same jobs as a sweep, as a user without one would write them: a loop around ``simulate``.

``python -m rivals.plain_loop '{"datasets": […], "links": […], …}'`` loads each dataset once, hands
the arrays to joblib's workers, keeps the results in memory and prints seconds and losses.
"""

from __future__ import annotations

import json
import sys
from itertools import product
from time import perf_counter
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from pipeline.core.engine import simulate
from pipeline.core.lanes import grid
from pipeline.core.links import get_link
from pipeline.core.loss import cutoff_at, fit_truth
from pipeline.core.models.base import ModelSpec, ScoreScale
from pipeline.core.tuning import tune
from pipeline.data.dataset import load
from pipeline.data.splits import initial_size, stratified_split

# The protocol `inferred`, typed out as a loop's author would.
ALPHAS = [2.0**exponent for exponent in range(-10, 5)]
BIG = ("adult", "bank", "eeg_eye")


def prepare(name: str, link: str, n_splits: int) -> dict[str, Any]:
    """Return what all jobs of a dataset and link share."""
    data = load(name, offline=True)
    linear = link == "linear"
    intercept = data.intercept or not linear
    score: ScoreScale = "mean" if linear else "contrast"
    spec = ModelSpec(get_link(link), 1.0, intercept, score=score)
    best = ModelSpec(get_link(link), 0.0 if linear else 1.0, intercept, score=score)
    size = initial_size(len(data.y), 0.05, 50 if linear else None)
    return {
        "X": data.X,
        "y": data.y,
        "truth": fit_truth(data.X, data.y, best),
        "splits": [stratified_split(data.y, size, 0, k) for k in range(n_splits)],
        "spec": spec,
        "batch_size": 1 if linear else 1000 if name in BIG else 100,
        "time": "examples",
    }


def job(shared: dict[str, Any], method: str, cutoff: float) -> tuple[float, float]:
    """Return tuned alpha and mean loss of one job."""
    value = cutoff_at(np.asarray(shared["truth"]), cutoff)
    lanes = grid([method], ALPHAS, [value], len(shared["splits"]))
    (best,) = tune(simulate(shared.pop("X"), shared.pop("y"), lanes=lanes, **shared)).values()
    return best.alpha, best.mean


def main(work: dict[str, Any]) -> dict[str, Any]:
    """Run the loop; return seconds and the losses by job."""
    start = perf_counter()
    settings = list(product(work["datasets"], work["links"]))
    shared = {pair: prepare(*pair, work["splits"]) for pair in settings}
    cells = [
        (*pair, cutoff, method)
        for pair, cutoff, method in product(settings, work["cutoffs"], work["methods"])
    ]
    found = Parallel(n_jobs=work["n_jobs"])(
        delayed(job)(dict(shared[name, link]), method, cutoff)
        for name, link, cutoff, method in cells
    )
    losses = {" ".join(map(str, cell)): loss for cell, (_, loss) in zip(cells, found, strict=True)}
    return {"seconds": perf_counter() - start, "losses": losses}


if __name__ == "__main__":
    print(json.dumps(main(json.loads(sys.argv[1]))))

"""The cells whose figures are kept, and the file they are kept in.

``python -m tests.goldens.cells`` writes the file anew: only where figures are meant to change.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.cells.compute import compute
from pipeline.cells.problem import problem_of
from pipeline.cells.read import make_cell
from pipeline.data.sources import Settings
from pipeline.results.outcome import COUNTS, Columns
from tests.cells.configs import values

FILE = Path(__file__).with_suffix(".json")
ALL = ("splits=2", "alpha=[0.125,1]", "curve_points=5")
GLM = "dataset=glm dataset.n=300 dataset.d=3"
TRAP = "dataset=greedy_trap dataset.n=300 dataset.d=3"
CELLS = (
    # every method of the paper, one row a round and in batches
    *(
        f"dataset=blood link={link} method={method}"
        for link in ("linear", "logistic")
        for method in (
            *("greedy", "eps_greedy", "os_eps_greedy", "noise", "os_noise", "margin", "ours"),
            "ours_log",
        )
    ),
    # links, scales, batches and labels that come late
    "dataset=diabetes link=probit method=ours cutoff=0.7",
    "dataset=diabetes link=logistic method=noise protocol.batch_size=7 protocol.draws=shared",
    "dataset=blood link=logistic method=margin protocol.delay=2 protocol.batch_size=25",
    "dataset=blood link=linear method=ours protocol.delay=40 protocol.time=rounds",
    "dataset=blood link=linear method=os_noise protocol.batch_size=3 protocol.delay=5",
    "dataset=german link=linear method=ours splits=1",
    # the other protocol, and a cutoff that is a value
    "dataset=german link=linear method=eps_greedy protocol=stated splits=1",
    "dataset=diabetes link=logistic method=ours protocol=stated cutoff=0.8 seed=3",
    "dataset=blood link=linear method=ours cutoff_value=0.3 splits=[1,3]",
    # settings of the model
    "dataset=blood link=linear method=ours +protocol.model.grow=acceptance protocol.delay=4",
    "dataset=blood link=linear method=margin protocol.truth.l2=1 "
    "protocol.model.fit_intercept=false",
    "dataset=blood link=logistic method=ours protocol.model.penalize_intercept=false "
    "protocol.model.l2=0.5",
    # groups and known truths
    "dataset=german dataset.group=foreign method=ours splits=1",
    f"{TRAP} method=greedy",
    f"{TRAP} link=logistic method=ours protocol.batch_size=10",
    f"{TRAP} method=erm",
    f"{GLM} link=logistic method=erm protocol.batch_size=20",
    f"{GLM} method=passive method.horizon=27 cutoff=0.4",
    f"{GLM} method=passive_cover method.horizon=64 method.n_patterns=50",
    f"{GLM} method=sgd method.accuracy=0.01 method.noise_bound=0.1",
    f"{GLM} link=logistic method=sgd method.high_cutoff=true method.radius=2 "
    "method.noise_bound=0.1 protocol.delay=1 alpha=[0.01,0.05]",
    f"{GLM} method=ours_theory method.horizon=300 alpha=[0.001,0.01]",
    f"{GLM} link=probit method=ours_theory method.coef_bound=2 alpha=[0.00001,0.0001]",
)


def figures(overrides: str) -> dict[str, Any]:
    """Return what one cell finds: losses and counts of every alpha, split and group, curves."""
    cell = make_cell(values(*ALL, *overrides.split()))
    (outcome,) = compute([cell], problem_of(cell, Settings.of(offline=True)))
    names = ("alpha", "loss", "standard_error", "cutoff_value", "accepted_rate", "missed_rate")
    return {
        "summary": [outcome.summary[name] for name in names],
        "losses": _of(outcome.losses),
        "groups": None if outcome.groups is None else _of(outcome.groups),
        "curves": {name: column.tolist() for name, column in outcome.curves.items()},
    }


def _of(columns: Columns) -> dict[str, Any]:
    keys = [name for name in ("alpha", "split", "group") if name in columns]
    return {
        "keys": [columns[name].tolist() for name in keys],
        "loss": columns["loss"].tolist(),
        "counts": np.array([columns[name] for name in COUNTS]).tolist(),
    }


def kept() -> dict[str, Any]:
    """Return the figures of the file, by cell."""
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def main() -> None:
    """Write the file."""
    lines = [f"{json.dumps(cell)}: {json.dumps(figures(cell))}" for cell in CELLS]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""What a sweep costs over the bare work: Hydra, workers, files and tracking included."""

from __future__ import annotations

import csv
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.report import Row, Target
from benchmarks.sizes import Sizes
from benchmarks.timing import ROOT, SCRIPTS

DIABETES: dict[str, Any] = {
    "datasets": ["diabetes"],
    "links": ["linear", "logistic"],
    "cutoffs": [0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95],
    "methods": ["eps_greedy", "os_eps_greedy", "noise", "margin", "ours"],
    "splits": 10,
}
TABLE1: dict[str, Any] = {
    "datasets": ["adult", "crime", "german", "blood", "diabetes"],  # five of its ten
    "links": ["linear"],
    "cutoffs": [0.5, 0.7],
    "methods": ["greedy", "eps_greedy", "os_eps_greedy", "noise", "os_noise", "margin", "ours"],
    "splits": 10,
}


@dataclass(frozen=True)
class Cost:
    """Wall seconds and processor seconds (children included) of a command, and its losses."""

    wall: float
    cpu: float
    losses: dict[str, float]


def sweeps(sizes: Sizes) -> Iterator[Row]:
    """A sweep against a plain loop with as many workers; MLflow's database is there before."""
    for workers in sizes.sweep_workers:
        small = {**DIABETES, "cutoffs": DIABETES["cutoffs"][: sizes.sweep_cutoffs]}
        yield from _compare(
            "Diabetes", {**small, "n_jobs": workers}, sizes, Target(3.0, at_most=True)
        )
    if sizes.sweep_table1:
        work = {**TABLE1, "n_jobs": max(sizes.sweep_workers)}
        yield from _compare("Table 1, bundled datasets", work, sizes, Target(1.3, at_most=True))


def further_job(sizes: Sizes) -> Iterator[Row]:
    """A job more in a sweep that runs already, against the same in a plain loop."""
    work = {**DIABETES, "n_jobs": 1}
    cpu, n_jobs = [], []
    for cutoffs in (sizes.sweep_cutoffs // 5 or 1, 1 + sizes.sweep_cutoffs):
        part = {**work, "cutoffs": [*DIABETES["cutoffs"], 0.98][:cutoffs]}
        with tempfile.TemporaryDirectory() as folder:
            cpu.append(_sweep(part, _database(Path(folder))).cpu - _loop(part).cpu)
        n_jobs.append(len(part["links"]) * cutoffs * len(part["methods"]))
    few, many = n_jobs
    yield Row(
        f"Diabetes, from {few} to {many} jobs, 1 worker",
        "plain loop",
        (cpu[1] - cpu[0]) / (many - few),
        target=Target(0.5, at_most=True),
        note="seconds",
    )


def _compare(name: str, work: dict[str, Any], sizes: Sizes, target: Target | None) -> Iterator[Row]:
    n_jobs = (
        len(work["links"]) * len(work["cutoffs"]) * len(work["methods"]) * len(work["datasets"])
    )
    ours, theirs = [], []
    with tempfile.TemporaryDirectory() as folder:
        uri = _database(Path(folder))
        for _ in range(sizes.sweep_repeats):
            ours.append(_sweep(work, uri))
            theirs.append(_loop(work))
    mine, loop = (min(costs, key=lambda cost: cost.wall) for costs in (ours, theirs))
    if any(abs(mine.losses[key] - loss) > 1e-9 * loss for key, loss in loop.losses.items()):
        raise AssertionError(f"{name}: sweep and loop lose differently")
    overhead = (min(c.cpu for c in ours) - min(c.cpu for c in theirs)) / n_jobs
    workers = f"{work['n_jobs']} worker{'s' if work['n_jobs'] > 1 else ''}"
    yield Row(
        f"{name}, {n_jobs} jobs, {workers}",
        "plain loop",
        mine.wall / loop.wall,
        mine.wall,
        loop.wall,
        target=target,
        note=f"{overhead:.2f} s of processor time more a job, start-up included",
    )


def _database(folder: Path) -> str:
    """Make MLflow's database by a first small sweep; return its address."""
    uri = f"sqlite:///{folder / 'mlflow.db'}"
    cell = ["dataset=blood", "splits=1", "alpha=1", f"outputs={folder}", f"tracking.uri={uri}"]
    _timed(["pipeline.run", *cell])
    return uri


def _sweep(work: dict[str, Any], uri: str) -> Cost:
    with tempfile.TemporaryDirectory() as outputs:
        listed = {
            "dataset": work["datasets"],
            "link": work["links"],
            "cutoff": work["cutoffs"],
            "method": work["methods"],
        }
        swept = [f"{key}={','.join(map(str, values))}" for key, values in listed.items()]
        settings = [f"splits={work['splits']}", f"n_jobs={work['n_jobs']}", f"outputs={outputs}"]
        arguments = ["pipeline.run", "-m", *swept, *settings, f"tracking.uri={uri}"]
        wall, cpu, _ = _timed(arguments)
        (file,) = Path(outputs).glob("sweeps/*/summary.csv")
        rows = list(csv.DictReader(file.read_text().splitlines()))
    keys = ("dataset", "link", "cutoff", "method")
    return Cost(wall, cpu, {" ".join(row[key] for key in keys): float(row["loss"]) for row in rows})


def _loop(work: dict[str, Any]) -> Cost:
    wall, cpu, printed = _timed(["rivals.plain_loop", json.dumps(work)])
    return Cost(wall, cpu, json.loads(printed.splitlines()[-1])["losses"])


def _timed(arguments: list[str]) -> tuple[float, float, str]:
    """Run ``python -m …``; return its wall time, processor time and output."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(SCRIPTS), str(ROOT)])}
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), perf_counter()
    command = [sys.executable, "-m", *arguments]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    wall, after = perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, cpu, done.stdout

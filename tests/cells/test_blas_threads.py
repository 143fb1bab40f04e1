"""The bytes of a result do not depend on how many threads BLAS takes."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import pipeline.cells.compute
from pipeline.cells.compute import compute
from pipeline.cells.problem import problem_of
from pipeline.cells.read import make_cell
from pipeline.data.sources import Settings
from tests.cells.configs import SMALL, values
from tests.commands import LONGEST, ROOT

CELLS = (
    "dataset=crime method=greedy splits=1 cutoff=0.5",
    "dataset=adult method=greedy splits=1 link=linear",
)
CODE = """
import hashlib, sys
from pipeline.data.sources import Settings
from pipeline.cells.read import make_cell
from pipeline.cells.compute import compute
from pipeline.cells.problem import problem_of
from tests.cells.configs import values

cell = make_cell(values(*sys.argv[1:]))
problem = problem_of(cell, Settings.of(offline=True))
(outcome,) = compute([cell], problem)
parts = [problem.truth, *outcome.losses.values(), *outcome.curves.values()]
print(hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest(), outcome.summary)
"""
LIMITS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def figures(cell: str, threads: str | None) -> str:
    """Return a digest of all figures of a cell, from a process with that many BLAS threads."""
    env = {name: value for name, value in os.environ.items() if name not in LIMITS}
    env |= {"PYTHONPATH": str(ROOT)} | ({} if threads is None else {"OMP_NUM_THREADS": threads})
    done = subprocess.run(
        [sys.executable, "-c", CODE, *cell.split()],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        check=True,
        timeout=LONGEST,
    )
    return done.stdout


@pytest.mark.parametrize("cell", CELLS)
def test_the_same_bytes_for_any_number_of_blas_threads(cell: str) -> None:
    assert len({figures(cell, threads) for threads in (None, "1", "4")}) == 1


def test_methods_have_one_blas_thread_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Erm and passive solve systems of equations: their last bits may decide about a row."""
    simulate, found = pipeline.cells.compute.simulate, []

    def watched(*arguments: Any, **options: Any) -> Any:
        found.extend(info["num_threads"] for info in threadpool_info() if is_blas(info))
        return simulate(*arguments, **options)

    monkeypatch.setattr(pipeline.cells.compute, "simulate", watched)
    cell = make_cell(values("dataset=blood", *SMALL))
    with threadpool_limits(limits=2, user_api="blas"):
        compute([cell], problem_of(cell, Settings.of(offline=True)))
        after = [info["num_threads"] for info in threadpool_info() if is_blas(info)]
    assert set(found) == {1}
    assert set(after) == {2}


def is_blas(info: dict[str, Any]) -> bool:
    return bool(info["user_api"] == "blas")

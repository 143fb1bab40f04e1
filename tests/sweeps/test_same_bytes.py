"""All ten datasets give the same bytes, whoever computes them, in how many processes and threads.

The large ones have one split and one alpha: it is the way to the figures that is compared.
"""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline import sweep
from tests.commands import LONGEST, ROOT, results

DATASETS = (
    *("adult", "australian", "bank", "blood", "churn"),
    *("compas", "crime", "diabetes", "eeg_eye", "german"),
)
LINKS, METHODS = ("linear", "logistic"), ("greedy", "ours")
SMALL = ("splits=1", "alpha=[0.25]", "curve_points=50")
CELLS = (f"dataset={','.join(DATASETS)}", f"link={','.join(LINKS)}", f"method={','.join(METHODS)}")
N_CELLS = len(DATASETS) * len(LINKS) * len(METHODS)
BLAS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
RAY = {"RAY_AUTH_MODE": "token", "RAY_USAGE_STATS_ENABLED": "0"}


def command(outputs: Path, *arguments: str, **variables: str) -> None:
    """Run the command with exactly these variables among those that limit threads."""
    free = {name: value for name, value in os.environ.items() if name not in BLAS}
    words = [*arguments, *SMALL, "tracking=none", f"outputs={outputs}"]
    done = subprocess.run(
        [sys.executable, "-m", "pipeline.run", *words],
        cwd=outputs.parent,
        env={**free, "PYTHONPATH": str(ROOT), **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=2 * LONGEST,
    )
    assert done.returncode == 0, done.stderr


def in_python(outputs: Path) -> None:
    found = sweep(
        DATASETS, LINKS, None, METHODS, alpha=[0.25], splits=1, n_jobs=2, outputs=outputs,
        overrides=["curve_points=50"],
    )  # fmt: skip
    assert set(found.state) == {"computed"}


def one_by_one(outputs: Path) -> None:
    """Each dataset by a command of a single job: a cell of the sweep for every one of them."""
    for dataset in DATASETS:
        command(outputs, f"dataset={dataset}", "method=ours")


def ray(outputs: Path) -> None:
    token = uuid.uuid4().hex
    command(outputs, "-m", *CELLS, "hydra/launcher=ray", **RAY, RAY_AUTH_TOKEN=token)


WAYS: dict[str, Callable[[Path], None]] = {
    "two workers": lambda out: command(out, "-m", *CELLS, "n_jobs=2"),
    "four workers": lambda out: command(out, "-m", *CELLS, "n_jobs=4"),
    "one BLAS thread": lambda out: command(out, "-m", *CELLS, "n_jobs=1", OMP_NUM_THREADS="1"),
    "four BLAS threads": lambda out: command(out, "-m", *CELLS, "n_jobs=2", OMP_NUM_THREADS="4"),
    "single jobs": one_by_one,
    "sweep()": in_python,
    "Ray": ray,
    "submitit": lambda out: command(out, "-m", *CELLS, "hydra/launcher=submitit_local"),
}


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Return the results of one worker, BLAS taking as many threads as it likes."""
    outputs = tmp_path_factory.mktemp("one worker") / "outputs"
    command(outputs, "-m", *CELLS, "n_jobs=1")
    found = results(outputs)
    assert len(found) == 5 * N_CELLS
    return found


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_ten_datasets_give_the_same_bytes(
    way: str, expected: dict[str, bytes], tmp_path: Path
) -> None:
    outputs = tmp_path / "outputs"
    WAYS[way](outputs)
    found = results(outputs)
    assert len(found) == 5 * (len(DATASETS) if way == "single jobs" else N_CELLS)
    assert found.items() <= expected.items()

"""The command line answers at once: nothing heavy is imported before it is used."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks import startup
from benchmarks.sizes import QUICK

from tests.commands import LONGEST

ROOT = Path(__file__).parents[1]
HEAVY = {
    "joblib", "matplotlib", "mlflow", "numba", "numpy", "openml", "pandas", "pyarrow", "ray",
    "scipy", "sklearn", "submitit",
}  # fmt: skip
SHOW = "import sys; print('modules:', *sorted({name.partition('.')[0] for name in sys.modules}))"
RUN = "import atexit, sys; sys.argv[0] = 'pipeline.run'; atexit.register(lambda: exec({show!r}))"


def imported(code: str, *arguments: str) -> set[str]:
    """Return the packages a process has imported when it ends."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
        timeout=LONGEST,
    )
    return set(done.stdout.rpartition("modules:")[2].split())


def test_importing_the_command_imports_nothing_heavy() -> None:
    modules = imported(f"import pipeline.run; {SHOW}")
    assert "hydra" in modules
    assert not modules & HEAVY


@pytest.mark.parametrize("asked", startup.ASKED, ids=" ".join)
def test_asking_imports_nothing_heavy(asked: tuple[str, ...]) -> None:
    modules = imported(f"{RUN.format(show=SHOW)}; from pipeline.run import main; main()", *asked)
    assert "hydra" in modules
    assert not modules & HEAVY


@pytest.mark.parametrize("asked", [(), ("--help",), ("status", "--help"), ("reproduce", "--help")])
def test_what_there_is_is_listed_without_hydra(asked: tuple[str, ...]) -> None:
    modules = imported(
        f"{RUN.format(show=SHOW)}; from pipeline.__main__ import main; main()", *asked
    )
    assert "pipeline" in modules
    assert not modules & (HEAVY | {"hydra", "omegaconf", "rich"})


def test_the_benchmark_measures_both_questions() -> None:
    rows = list(startup.startup(QUICK))
    assert [row.case for row in rows] == [
        "python -m pipeline.run --help",
        "python -m pipeline.run --cfg job",
    ]
    assert all(row.ratio == row.ours / row.theirs > 0 for row in rows)

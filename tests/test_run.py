"""The commands people type, as they type them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.commands import LONGEST

ROOT = Path(__file__).parents[1]
COMMAND = "-m pipeline.run -m method=ours,margin cutoff=0.5,0.7"
README = (ROOT / "README.md").read_text()


def python(arguments: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments.split()],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=LONGEST,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("run")


@pytest.fixture(scope="module")
def sweep(folder: Path) -> subprocess.CompletedProcess[str]:
    return python(COMMAND, folder)


def test_the_users_command(sweep: subprocess.CompletedProcess[str], folder: Path) -> None:
    assert sweep.returncode == 0, sweep.stderr
    assert len(re.findall(r"^\[\d/4\] diabetes linear", sweep.stderr, flags=re.MULTILINE)) == 4
    picture = folder / re.findall(r"^picture: +(\S+)$", sweep.stdout, flags=re.MULTILINE)[0]
    assert picture.read_bytes().startswith(b"\x89PNG")
    table = pd.read_csv(re.findall(r"numbers: +(\S+)", sweep.stdout)[0].join([f"{folder}/", ""]))
    assert sorted(zip(table["method"], table["cutoff"], strict=True)) == [
        ("margin", 0.5),
        ("margin", 0.7),
        ("ours", 0.5),
        ("ours", 0.7),
    ]
    for row in table.itertuples():
        assert f"{row.loss:.2f} ± {row.standard_error:.2f}" in sweep.stdout
        files = {path.name for path in (folder / str(row.folder)).iterdir()}
        assert files == {
            "config.yaml", "curves.parquet", "environment.json", "losses.parquet", "status.json",
            "summary.json",
        }  # fmt: skip


def test_the_readme_shows_what_it_prints(sweep: subprocess.CompletedProcess[str]) -> None:
    number = r"\d+\.\d\d(?= ±)"
    printed = [float(text) for text in re.findall(number, sweep.stdout)]
    shown = [float(text) for text in re.findall(number, README)]
    np.testing.assert_allclose(shown, printed, atol=0.05)
    assert COMMAND in README


def test_the_command_again_computes_nothing(
    sweep: subprocess.CompletedProcess[str], folder: Path
) -> None:
    assert sweep.returncode == 0
    again = python(f"{COMMAND} tracking=none", folder)
    assert again.returncode == 0, again.stderr
    assert "(4 of 4 kept from before)" in again.stdout
    table = r"^diabetes, linear.*?\n\n"
    first, second = (re.search(table, run.stdout, flags=re.S | re.M) for run in (sweep, again))
    assert first is not None
    assert second is not None
    assert first.group() == second.group()


def test_an_own_table_with_groups(folder: Path) -> None:
    rng = np.random.default_rng(0)
    income, sex = rng.normal(size=400), rng.choice(["f", "m"], 400)
    repaid = np.where(income + rng.normal(size=400) > 0, "yes", "no")
    frame = pd.DataFrame({"income": income, "sex": sex, "repaid": repaid})
    frame.to_csv(folder / "loans.csv", index=False)
    done = python(
        "-m pipeline.run -m dataset=csv dataset.path=loans.csv dataset.target=repaid "
        "dataset.positive=yes dataset.group=sex method=greedy,ours cutoff=0.5 splits=2 "
        "alpha=[0.5] tracking=none n_jobs=1",
        folder,
    )
    assert done.returncode == 0, done.stderr
    assert "loans, linear link" in done.stdout
    rows = re.findall(r"^  (f|m) +(\S+) / (\S+)% / (\S+)%", done.stdout, flags=re.MULTILINE)
    assert [row[0] for row in rows] in (["f", "m"], ["m", "f"])
    assert "greedy" in done.stdout
    inferred = re.findall(r"^loans, inferred:\n((?:  .*\n)+)", done.stdout, flags=re.MULTILINE)
    assert [note.strip() for note in inferred[0].splitlines()] == [
        f"label 1: repaid = yes ({np.mean(repaid == 'yes'):.1%} of 400 rows); label 0: no",
        "group: sex = f, m; no feature",
        "income  number: standardised",
        "1 columns make 1 features",
    ]
    assert len(inferred) == 1  # not once a job
    (kept,) = folder.glob("outputs/sweeps/*/inferred/loans_*.txt")
    assert "income  number: standardised" in kept.read_text()

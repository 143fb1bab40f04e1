"""A million rows of thirty columns; how long they take is measured by ``make bench``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.own_tables import write_csv

ROWS = 1_000_000
SCRIPTS = Path(__file__).parents[3] / "scripts"
PEAK = """
import json, sys
from pathlib import Path
from benchmarks.memory import peak_rss
from pipeline.data.own_table import load_file

dataset = load_file(Path(sys.argv[1]), "repaid", "yes", group="word2")
print(json.dumps({"peak": peak_rss() / 2**20, "matrix": dataset.X.nbytes / 2**20}))
"""


@pytest.mark.slow
def test_it_loads_in_bounded_memory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "large.csv"
    write_csv(path, ROWS)
    command = [sys.executable, "-c", PEAK, str(path)]
    environment = {**os.environ, "PYTHONPATH": str(SCRIPTS)}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    found: dict[str, float] = json.loads(done.stdout)
    size, ratio = path.stat().st_size / 2**20, found["peak"] / found["matrix"]
    with capsys.disabled():
        print(f"\n{size:.0f} MB of CSV: peak {found['peak']:.0f} MB, {ratio:.1f} times X")
    # the interpreter with its libraries (250 MB), the columns (0.8 X), X, and some blocks
    assert found["peak"] < 400 + 1.9 * found["matrix"]

"""A large CSV of one's own: read, kinds inferred, encoded, beside pandas and a plain encoding."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.report import Row, Target
from benchmarks.sizes import Sizes
from benchmarks.timing import best_of, wall_seconds
from pipeline.data.dataset import Dataset
from pipeline.data.own_table import load_file

TARGET, GROUP = "repaid", "word2"


def own_tables(sizes: Sizes) -> Iterator[Row]:
    """Wall time of ``load_file`` over that of pandas.read_csv and a plain encoding."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "loans.csv"
        write_csv(path, sizes.csv_rows)
        works = {
            "ours": lambda: wall_seconds(lambda: load(path)),
            "pandas": lambda: wall_seconds(lambda: plainly(path)),
            "reading": lambda: wall_seconds(lambda: pd.read_csv(path)),
        }
        best = best_of(sizes.repeats, works)
        size = path.stat().st_size / 1e6
    ratio, note = best["ours"] / best["pandas"], f"read_csv alone takes {best['reading']:.2g} s"
    case = f"CSV of {sizes.csv_rows:,} rows × 30 columns, {size:,.0f} MB"
    times = best["ours"], best["pandas"]
    yield Row(case, "pandas", ratio, *times, target=Target(1.5, at_most=True), note=note)


def load(path: Path) -> Dataset:
    """Return the table as a run would load it."""
    return load_file(path, TARGET, "yes", group=GROUP)


def plainly(path: Path) -> np.ndarray:
    """Return X by the shortest way there is: standardised numbers, get_dummies."""
    frame = pd.read_csv(path).drop(columns=[TARGET, GROUP])
    numbers = frame.select_dtypes("number")
    frame[numbers.columns] = (numbers - numbers.mean()) / numbers.std(ddof=0)
    return np.ascontiguousarray(pd.get_dummies(frame, dtype=np.float64).to_numpy())


def write_csv(path: Path, rows: int) -> None:
    """Write numbers with four decimals, counts, words and a target."""
    import pyarrow as pa
    from pyarrow import csv

    rng = np.random.default_rng(0)
    columns: dict[str, np.ndarray] = {f"x{k}": rng.normal(size=rows).round(4) for k in range(24)}
    columns |= {f"count{k}": rng.integers(0, 1000, rows) for k in range(2)}
    colours = np.array(["red", "green", "blue", "cyan"])
    columns |= {f"word{k}": colours[rng.integers(0, 4, rows)] for k in range(3)}
    columns[TARGET] = np.array(["no", "yes"])[rng.integers(0, 2, rows)]
    csv.write_csv(pa.table(columns), path)

"""The screen of other readings of the paper: draws against enumeration, and the pages."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import forensics
import numpy as np
import pandas as pd
import pytest

from pipeline.paths import conf_dir


def test_the_tail_is_that_of_all_ways_to_draw_ten_splits() -> None:
    losses = np.random.default_rng(1).exponential(size=(12, 3))
    means = [losses[list(ten)].mean(axis=0).min() for ten in combinations(range(12), 10)]
    for figure in (0.5, 0.8, 0.9, 1.0):
        below, above = np.mean(np.array(means) <= figure), np.mean(np.array(means) >= figure)
        exact = min(1.0, 2.0 * min(below, above))
        assert forensics.tail_probability(losses, figure) == pytest.approx(exact, abs=0.02)


def test_a_figure_nothing_comes_near_has_no_chance() -> None:
    assert forensics.tail_probability(np.ones((20, 2)), 3.0) == 0.0
    assert forensics.tail_probability(np.ones((20, 2)), 1.0) == 1.0


def test_every_candidate_is_read_under_its_own_link() -> None:
    found = list(forensics.readings(None))
    files = {path.stem for path in (conf_dir() / "candidate").glob("*.yaml")}
    assert {name for _, name in found} == files | {forensics.AS_IT_STANDS}
    assert [name for _, name in found].count(forensics.AS_IT_STANDS) == 2
    assert all(name.startswith(link) for link, name in found if name != forensics.AS_IT_STANDS)
    only = list(forensics.readings(["linear_start_40"]))
    assert only == [
        ("linear", forensics.AS_IT_STANDS),
        ("linear", "linear_start_40"),
        ("logistic", forensics.AS_IT_STANDS),
    ]


def test_the_page_has_every_reading(tmp_path: Path) -> None:
    screened = pd.DataFrame(
        [
            {"link": link, "reading": reading, "dataset": dataset, "judged": 9}
            | {"share_agrees": 0.875, "ratio": 1.03125, "rms_z": 1.25}
            for link in forensics.LINKS
            for reading in (forensics.AS_IT_STANDS, f"{link}_other")
            for dataset in ("all", "blood")
        ]
    )
    heavy = pd.DataFrame(
        [{"link": "linear", "reading": "r", "dataset": "blood", "p": p} for p in (0.5, 0.04, 0.001)]
    )
    forensics.write(tmp_path, screened, heavy)
    page = (tmp_path / "evidence.md").read_text()
    assert "| linear_other | 9 | 0.875 | 1.03 | 1.25 |" in page
    assert "| linear | r | blood | 3 | 2 | 1 | 0.001 |" in page
    assert len(pd.read_csv(tmp_path / "screen.csv")) == len(screened)

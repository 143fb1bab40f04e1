"""The screen of other readings of the paper: draws against enumeration, and the pages."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from types import SimpleNamespace

import forensics
import numpy as np
import pandas as pd
import pytest

from pipeline.files import conf_dir


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
    final = screened[screened["dataset"] == "all"].assign(rms_z=1.125)
    edges = pd.DataFrame([{"method": "eps_greedy", "grid": "from 2^-10", "above": 0, "equal": 18}])
    evidence = {"screen": screened, "heavy_tails": heavy, "finalists": final, "grid_edges": edges}
    forensics.write(tmp_path, evidence)
    page = (tmp_path / "evidence.md").read_text()
    assert "| linear_other | 9 | 0.875 | 1.03 | 1.25 |" in page
    assert "| linear | r | blood | 3 | 2 | 1 | 0.001 |" in page
    assert "| linear | linear_other | all | 9 | 0.875 | 1.03 | 1.12 |" in page
    assert "| eps_greedy | from 2^-10 | 0 | 18 |" in page
    for name, frame in evidence.items():
        assert len(pd.read_csv(tmp_path / f"{name}.csv")) == len(frame)


def test_a_grid_that_ends_higher_loses_its_ties_with_greedy() -> None:
    """One row: greedy loses 2, ε-greedy 2 with the least alpha, 1 more with each next one."""
    label = {"dataset": "blood", "cutoff": "0.5", "split": 0}
    lines = [{**label, "method": "greedy", "alpha": 0.0, "loss": 2.0}]
    lines += [
        {**label, "method": method, "alpha": 2.0**k, "loss": 2.0 + k + 10}
        for method in ("eps_greedy", "os_eps_greedy")
        for k in range(-10, -6)
    ]
    found = SimpleNamespace(losses=pd.DataFrame(lines))
    rows = pd.DataFrame(forensics.grid_edges(found)).set_index(["method", "grid"])
    assert tuple(rows.loc["eps_greedy", "of the paper"]) == (0, 16)
    assert tuple(rows.loc["os_eps_greedy", "of the paper"]) == (22, 13)
    assert tuple(rows.loc["eps_greedy", "from 2^-10"]) == (0, 1)
    assert tuple(rows.loc["os_eps_greedy", "from 2^-9"]) == (1, 0)

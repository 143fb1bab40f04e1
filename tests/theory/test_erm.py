from __future__ import annotations

import math
from pathlib import Path

import matplotlib.image
import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest, norm

from pipeline.theory.__main__ import main
from pipeline.theory.driver import Measured
from pipeline.theory.erm import (
    CUTOFF,
    MARGINS,
    PRINTED,
    SIZES,
    failure_probability,
    figure,
    groups_table,
    labels,
    lost_by_both,
    lost_groups,
    page,
    printed_bound,
)
from pipeline.theory.trap import Runs, gather, row_of
from pipeline.view.style import look
from tests.theory.made_up_results import trapped

T = np.arange(1.0, 101.0)
TOY = ("dataset.n=400", "dataset.d=3", "tracking=none", "n_jobs=1")


@pytest.mark.parametrize(("t", "margin", "groups"), [(4, 1.0, 100), (9, 0.25, 30), (16, 2.0, 41)])
def test_a_group_is_lost_where_the_mean_of_its_labels_is_below_c(
    t: int, margin: float, groups: int
) -> None:
    """Count the means, 20 groups at a time; the groups take turns in the labels."""
    below = 0
    for first in range(0, groups, 20):
        n = min(20, groups - first)
        y = labels(t, margin, first, n)
        below += sum(float(np.mean(y[group::n])) < CUTOFF for group in range(n))
    assert lost_groups(t, margin, groups) == below
    assert lost_groups(t, margin, groups) == below  # the same labels each time


def test_labels_have_the_mean_that_the_margin_says() -> None:
    """τ = margin·σ/√t with σ = 1."""
    y = labels(16, 2.0, 0, 20_000)
    assert y.mean() == pytest.approx(CUTOFF + 2.0 / 4.0, abs=0.01)
    assert y.std() == pytest.approx(1.0, abs=0.01)
    assert not np.isin(labels(16, 2.0, 20, 5), y).any()  # other groups, other labels


@pytest.mark.parametrize("margin", [0.5, 1.0])
def test_the_share_is_the_normal_tail(margin: float) -> None:
    lost = lost_groups(4, margin, 2000)
    interval = binomtest(lost, 2000).proportion_ci(0.999)
    assert interval.low < norm.cdf(-margin) < interval.high


def test_the_probability_and_the_bound_of_appendix_b_by_hand() -> None:
    assert failure_probability(1.0) == pytest.approx(0.158655, abs=1e-6)
    assert failure_probability(1.0) < PRINTED
    t, tau, sigma = 9, 0.5, 2.0
    top = math.sqrt(t) * sigma * tau / (t * tau**2 + sigma**2)
    by_hand = top * math.exp(-t * tau**2 / (2 * sigma**2)) / (2 * math.pi)
    assert printed_bound(tau * math.sqrt(t) / sigma) == pytest.approx(by_hand)
    assert printed_bound(1.0) == pytest.approx(0.0483, abs=1e-4)


def test_a_line_for_each_size_and_margin() -> None:
    table = groups_table(20)
    assert list(zip(table["t"], table["margin"], strict=True)) == [
        (t, margin) for t in SIZES for margin in MARGINS
    ]
    np.testing.assert_allclose(table["exact"], norm.cdf(-table["margin"]))
    np.testing.assert_allclose(table["share"], table["lost"] / 20)
    assert ((table["low"] <= table["share"]) & (table["share"] <= table["high"])).all()


def two_methods() -> list[Runs]:
    """Greedy loses v in the runs 0 and 2, erm in the runs 1 and 2."""
    flat = np.vstack([0.1 * T, 0.0 * T + 2, 0.3 * T])
    return gather(
        [trapped("greedy", [0, 9, 4], [9, 0, 5], flat), trapped("erm", [9, 3, 0], [0, 6, 9], flat)]
    )


def test_runs_that_both_lost_are_counted() -> None:
    every = two_methods()
    assert lost_by_both(every, ("greedy", "erm")) == 1
    assert lost_by_both(every, ("greedy", "ours")) is None


def made_up_groups() -> pd.DataFrame:
    rows = [(4, 0.5, 0.30, 0.25, 0.36), (4, 1.0, 0.15, 0.10, 0.19), (9, 1.0, 0.25, 0.21, 0.30)]
    table = pd.DataFrame(rows, columns=["t", "margin", "share", "low", "high"])
    exact = [norm.cdf(-margin) for margin in table["margin"]]
    return table.assign(groups=100, lost=0, exact=exact, printed_bound=0.01)


def test_the_figure_shows_the_tables() -> None:
    every = two_methods()
    left, right = figure(Measured({"erm": made_up_groups()}, every)).axes
    curve, fifth, point = left.lines[:3]
    np.testing.assert_allclose(curve.get_ydata(), norm.cdf(-curve.get_xdata()))
    assert list(fifth.get_ydata()) == [0.2, 0.2]
    assert (*point.get_xdata(), *point.get_ydata()) == (1.0, pytest.approx(norm.cdf(-1)))
    assert [text.get_text() for text in left.texts] == ["0.159"]
    four, nine = left.containers
    assert list(four.lines[0].get_ydata()) == [0.30, 0.15]
    assert list(nine.lines[0].get_ydata()) == [0.25]
    mean = right.lines[1]
    assert mean.get_color() == four.lines[0].get_color() == look("erm").colour
    np.testing.assert_allclose(mean.get_ydata(), (0.4 * T + 2) / 3 / T)
    shown = [text.get_text() for text in right.get_legend().get_texts()]
    assert shown == [f"{name}: v lost in 2 of 3 runs" for name in ("greedy", "erm")]


def test_the_page_has_the_figures_of_the_tables() -> None:
    every = two_methods()
    tables = {"erm": made_up_groups(), "erm_trap": pd.DataFrame(map(row_of, every))}
    text = page(Measured(tables, every)).markdown()
    assert "| 4 | 1 | 100 | 0.150 (0.100 – 0.190) | 0.159 | 0.010 |" in text
    assert "there: 1 of 2 intervals hold it (of all in the table, 2 of 3 hold their value)" in text
    assert "value), 1 of 2 end below 1/5." in text
    assert "| linear | erm | – | 3 | 0.667 (" in text
    assert "E[Φ(−τ√n′/σ)] = 0.245;" in text
    assert "both lost v in 1 runs." in text


def test_from_the_command_to_the_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "erm"
    given = ["--groups", "20", *TOY, "dataset.seed=0,1", f"outputs={tmp_path / 'outputs'}"]
    given.append("tracking=none")
    assert main(["erm", *given, "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert "t = 100, τ√t/σ = 1: lost 0." in said
    assert "erm: v lost in" in said
    assert len(pd.read_csv(out / "erm.csv")) == len(SIZES) * len(MARGINS)
    trap = pd.read_csv(out / "erm_trap.csv")
    assert trap[["method", "runs"]].to_numpy().tolist() == [["greedy", 2], ["erm", 2], ["ours", 2]]
    assert (out / "erm.md").read_text().startswith("# The alternative greedy")
    assert matplotlib.image.imread(out / "erm.png").std() > 0.01
    assert (out / "erm.pdf").is_file()
    before = {path: path.read_bytes() for path in out.iterdir()}
    assert main(["erm", *given, "--out", str(out)]) == 0
    assert {path: path.read_bytes() for path in out.iterdir()} == before

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, special

from pipeline.paper.collection import Collection
from pipeline.paper.comparison.agreement import (
    against_greedy,
    geometric_mean,
    pool,
    share_by_chance,
    share_interval,
    summaries,
)
from pipeline.paper.comparison.compare import AGREES, DIFFERS, Comparison, compare
from tests.paper.made_up_collection import near_the_paper, without


def test_geometric_mean() -> None:
    assert geometric_mean([2.0, 8.0]) == pytest.approx(4.0)
    assert geometric_mean([2.0, np.nan, 8.0, np.inf]) == pytest.approx(4.0)
    assert np.isnan(geometric_mean([]))


def test_a_pool_counts_what_numpy_counts(comparison: Comparison) -> None:
    found = pool(comparison.of(link="linear", dataset="crime"))
    cells = comparison.cells
    part = cells[(cells["link"] == "linear") & (cells["dataset"] == "crime")]
    z = part["z"].to_numpy()
    assert found["cells"] == found["judged"] == 70
    assert found["agrees"] == np.sum(np.abs(z) < 2)
    assert found["differs"] == np.sum((np.abs(z) >= 2) & (np.abs(z) <= 4))
    assert found["strongly_differs"] == np.sum(np.abs(z) > 4)
    assert found["share_agrees"] == pytest.approx(np.mean(np.abs(z) < 2))
    assert found["ratio"] == pytest.approx(np.prod(part["paper"] / part["loss"]) ** (1 / 70))
    assert found["rms_z"] == pytest.approx(np.sqrt(np.mean(z**2)))
    wide = part.pivot_table(index="cutoff", columns="method", values="loss").round(2)
    assert found["wins"] == int((wide["ours"] == wide.min(axis=1)).sum())


def test_the_papers_wins_are_133(comparison: Comparison) -> None:
    links = summaries(comparison).set_index("link")
    assert links["wins_paper"].to_dict() == {"linear": 66, "logistic": 67, "both": 133}
    assert links["rows"].to_dict() == {"linear": 100, "logistic": 100, "both": 200}


def test_parts_add_up(comparison: Comparison) -> None:
    counts = ["cells", "judged", "missing", "agrees", "differs", "strongly_differs"]
    whole = summaries(comparison).set_index("link")
    for parts in (summaries(comparison, "dataset"), summaries(comparison, "method")):
        assert set(parts["link"]) == {"linear", "logistic", "both"}
        for link, part in parts.groupby("link"):
            assert part[counts].sum().to_dict() == whole.loc[link, counts].to_dict()
    assert len(summaries(comparison, "dataset")) == 30
    assert len(summaries(comparison, "method")) == 21
    assert summaries(comparison, "method").query("link == 'both'")["wins_paper"].sum() >= 200


def test_rows_with_a_gap_count_on_neither_side(collection: Collection) -> None:
    labels = {"dataset": "adult", "link": "linear", "cutoff": "0.5"}  # a win of ours in the paper
    found = pool(compare(without(collection, **labels, method="greedy")))
    assert found["missing"] == 1
    assert found["judged"] == 1399
    assert found["rows"] == 199
    assert found["wins_paper"] == 132


def test_nothing_to_summarise() -> None:
    nothing = compare(without(near_the_paper(), protocol="inferred"))
    found = pool(nothing)
    assert (found["missing"], found["judged"], found["rows"]) == (1400, 0, 0)
    for name in ("share_agrees", "ratio", "rms_z", "rank_correlation"):
        assert np.isnan(found[name])
    assert np.isnan(share_by_chance(nothing))


def test_the_papers_epsilon_greedy_against_greedy(comparison: Comparison) -> None:
    """As counted by others: never above in the linear tables, 12 and 16 in the logistic ones."""
    above = against_greedy(comparison).set_index(["link", "method"])["above_paper"]
    assert above["linear", "eps_greedy"] == 0
    assert above["linear", "os_eps_greedy"] == 22
    assert above["logistic", "eps_greedy"] == 12
    assert above["logistic", "os_eps_greedy"] == 16


def test_above_equal_and_below_are_all_rows(collection: Collection) -> None:
    found = against_greedy(compare(without(collection, dataset="blood", method="greedy")))
    for side in ("here", "paper"):
        total = found[[f"{name}_{side}" for name in ("above", "equal", "below")]].sum(axis=1)
        assert (total == 90).all()
    assert (found["rows"] == 90).all()


def test_by_chance_t_decides(comparison: Comparison) -> None:
    """With ten splits: the density of t with nine degrees of freedom, between −2 and 2."""
    scale = special.gamma(5) / (np.sqrt(9 * np.pi) * special.gamma(4.5))
    expected, _ = integrate.quad(lambda x: scale * (1 + x**2 / 9) ** -5, -2, 2)
    assert share_by_chance(comparison) == pytest.approx(expected)


def test_by_chance_is_what_chance_does() -> None:
    """Both sides drawn alike: the share that agrees comes near."""
    rng = np.random.default_rng(0)
    ours, paper = rng.standard_normal((2, 20000, 10))
    z = (paper.mean(axis=1) - ours.mean(axis=1)) / (ours.std(axis=1, ddof=1) * np.sqrt(0.2))
    expected = share_by_chance(compare(near_the_paper()))
    assert np.mean(np.abs(z) < 2) == pytest.approx(expected, abs=0.006)


def test_the_interval_draws_whole_tables() -> None:
    """Twenty tables, of which ten agree throughout and ten nowhere: a coin thrown twenty times."""
    found = compare(near_the_paper())
    half = set(list(dict.fromkeys(found.cells["dataset"]))[:5])
    verdicts = np.where(found.cells["dataset"].isin(half), AGREES, DIFFERS)
    low, high = share_interval(Comparison(found.cells.assign(verdict=verdicts), found.rows))
    deviation = np.sqrt(0.25 / 20)
    assert low == pytest.approx(0.5 - 1.96 * deviation, abs=0.03)
    assert high == pytest.approx(0.5 + 1.96 * deviation, abs=0.03)


def test_nothing_judged_has_no_interval() -> None:
    found = compare(near_the_paper())
    nothing = Comparison(found.cells.assign(verdict="missing"), found.rows)
    assert np.isnan(share_interval(nothing)).all()

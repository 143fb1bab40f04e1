from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from pipeline.paper.collection import Collection
from pipeline.paper.comparison.compare import (
    Comparison,
    compare,
    rank_correlation,
    ratio,
    verdict,
    z_score,
)
from pipeline.paper.published import METHODS, best_methods, published
from tests.paper.made_up_collection import ALPHAS, TUNED, near_the_paper, of_losses, without

KEY = ["link", "dataset", "cutoff", "method"]


def test_a_z_worked_by_hand() -> None:
    """Splits 1, 2, 3, 6: mean 3, variance 14/3; the paper's 5 is 2 above."""
    labels = [("inferred", "adult", "linear", "0.5", "greedy")]
    losses = np.tile([1.0, 2.0, 3.0, 6.0], (1, 3, 1))
    found = compare(of_losses(labels, losses)).cells.iloc[0]
    assert found["loss"] == 3.0
    assert found["standard_deviation"] == pytest.approx(np.sqrt(14 / 3))
    assert found["paper"] == 239.45
    assert found["ratio"] == pytest.approx(239.45 / 3)
    expected = (239.45 - 3) / (np.sqrt(14 / 3) * np.sqrt(1 / 10 + 1 / 4))
    assert found["z"] == pytest.approx(expected)
    assert found["verdict"] == "strongly differs"
    assert z_score([5], [3], [np.sqrt(14 / 3)], [4])[0] == pytest.approx(2 / np.sqrt(14 / 3 * 0.35))


def test_every_published_figure_is_compared(comparison: Comparison) -> None:
    assert len(comparison.cells) == 1400
    assert len(comparison.rows) == 200
    order = [(*row.key, method) for row in published() for method in METHODS]
    assert list(comparison.cells[KEY].itertuples(index=False, name=None)) == order
    assert list(comparison.cells["paper"]) == [r.loss[m] for r in published() for m in METHODS]


def test_figures_are_those_of_the_losses(collection: Collection, comparison: Comparison) -> None:
    """Against plain numpy on the losses of a few cells."""
    for number in (0, 77, 1399):
        cell = comparison.cells.iloc[number]
        table = collection.losses[collection.losses["alpha"] == TUNED]
        for name in KEY:
            table = table[table[name] == cell[name]]
        losses = table["loss"].to_numpy()
        assert len(losses) == 10
        z = (cell["paper"] - losses.mean()) / (losses.std(ddof=1) * np.sqrt(0.2))
        assert cell["loss"] == pytest.approx(losses.mean())
        assert cell["z"] == pytest.approx(z)
        assert cell["ratio"] == pytest.approx(cell["paper"] / losses.mean())
    assert TUNED in ALPHAS


@pytest.mark.parametrize(
    ("z", "said"),
    [
        (0.0, "agrees"), (1.99, "agrees"), (-1.99, "agrees"), (2.0, "differs"), (-3.9, "differs"),
        (4.0, "differs"), (4.01, "strongly differs"), (-9.0, "strongly differs"),
        (np.inf, "strongly differs"), (np.nan, "unjudged"),
    ],
)  # fmt: skip
def test_verdicts(z: float, said: str) -> None:
    assert verdict([z], [1.0])[0] == said
    assert verdict([z], [np.nan])[0] == "missing"


def test_without_spread_only_the_printed_figure_agrees() -> None:
    found = z_score([2.06, 2.06, 2.06], [2.0604, 2.05, 2.07], [0.0, 0.0, 0.0], [10, 10, 10])
    assert list(found) == [0.0, np.inf, -np.inf]


def test_one_split_cannot_be_judged() -> None:
    found = compare(near_the_paper(n_splits=1))
    assert set(found.cells["verdict"]) == {"unjudged"}
    assert found.cells["ratio"].notna().all()
    assert found.rows["complete"].all()


def test_a_loss_of_zero_has_no_ratio() -> None:
    assert np.isnan(ratio([1.0, 1.0], [0.0, np.nan])).all()
    assert ratio([3.0], [2.0])[0] == 1.5


@pytest.mark.parametrize("state", ["missing", "failed"])
def test_gaps_are_missing_and_make_their_row_incomplete(collection: Collection, state: str) -> None:
    labels = {"dataset": "blood", "link": "logistic", "cutoff": "0.5"}
    found = compare(without(collection, state, **labels, method="noise")).of(**labels)
    cell = found.cells.set_index("method").loc["noise"]
    assert cell["verdict"] == "missing"
    assert cell["state"] == state
    assert np.isnan(cell["z"])
    (row,) = found.rows.to_dict("records")
    assert not row["complete"]
    assert row["best"] == "missing"
    assert np.isnan(row["rank_correlation"])


def test_cells_that_were_never_asked_for_are_missing() -> None:
    found = compare(near_the_paper(keep=lambda row: row.in_text))
    assert (found.cells["verdict"] == "missing").sum() == 160 * 7
    assert found.rows["complete"].sum() == 40


def test_with_the_papers_own_losses_everything_agrees() -> None:
    found = compare(near_the_paper(spread=0))
    assert set(found.cells["verdict"]) == {"agrees"}
    assert list(found.rows["best"]) == list(found.rows["best_paper"])
    np.testing.assert_allclose(found.rows["rank_correlation"].dropna(), 1.0)
    assert found.rows["misprinted"].sum() == 7


def test_rank_correlation_is_spearmans(comparison: Comparison) -> None:
    for row in comparison.rows.iloc[[0, 99, 150]].to_dict("records"):
        cells = comparison.of(**{name: row[name] for name in KEY[:3]}).cells
        expected = stats.spearmanr(cells["loss"].round(2), cells["paper"]).statistic
        assert row["rank_correlation"] == pytest.approx(expected)


def test_rank_correlation_of_equal_figures_is_unknown() -> None:
    assert np.isnan(rank_correlation([1.0, 1.001, 0.999], [1, 2, 3]))
    assert rank_correlation([1, 2, 3], [6, 5, 4]) == pytest.approx(-1)


def test_ties_win_together_as_printed() -> None:
    assert best_methods({"a": 2.004, "b": 2.0, "c": 2.006}) == ("a", "b")

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.axes import Axes

from pipeline.paper.figures.loss_by_alpha import alpha_sheet
from pipeline.paper.published import METHODS
from pipeline.paper.statistics.alphas import Grid, grids, relative
from pipeline.view.style import look
from tests.paper.made_up_collection import without
from tests.paper.made_up_paper import full_collection

SPLITS = tuple(range(10))


def one_alpha(losses: np.ndarray, alpha: float = 1.0) -> Grid:
    return Grid(np.array([alpha]), SPLITS, losses[None])


def test_a_method_twice_as_good_on_every_split_has_no_error() -> None:
    base = np.arange(1.0, 11.0)
    found = relative(one_alpha(0.5 * base), one_alpha(base, 0.0))
    assert found.ratio == pytest.approx([0.5])
    assert found.error == pytest.approx([0.0], abs=1e-12)
    assert found.exponents.tolist() == [0.0]


def test_the_error_is_that_of_a_jackknife() -> None:
    rng = np.random.default_rng(0)
    base = rng.gamma(50.0, size=10)
    losses = 0.8 * base + rng.normal(0, 2, 10)
    left_out = [np.delete(losses, k).mean() / np.delete(base, k).mean() for k in range(10)]
    jackknife = np.sqrt(0.9 * ((left_out - np.mean(left_out)) ** 2).sum())
    assert relative(one_alpha(losses), one_alpha(base, 0.0)).error[0] == pytest.approx(
        jackknife, rel=0.05
    )


def test_a_panel_has_a_line_and_a_dot_for_each_method_with_an_alpha() -> None:
    found = grids(full_collection().losses)
    figure = alpha_sheet(found, "linear")
    assert len(figure.axes) == 20
    cells = full_collection().cells
    tuned = cells[(cells["dataset"] == "adult") & (cells["cutoff"] == "0.5")]
    tuned = tuned[tuned["link"] == "linear"].set_index("method")["alpha"]
    greedy, *lines = figure.axes[0].lines
    assert greedy.get_color() == look("greedy").colour
    for method, line, dot in zip(METHODS[1:], lines[::2], lines[1::2], strict=True):
        assert line.get_color() == dot.get_color() == look(method).colour
        assert len(line.get_xdata()) == 15
        assert dot.get_xdata()[0] == np.log2(tuned[method])
        assert dot.get_ydata()[0] == min(line.get_ydata())


def test_ours_lies_below_the_other_lines_and_all_dots_above() -> None:
    for axis in alpha_sheet(grids(full_collection().losses), "linear").axes:
        greedy, *lines = axis.lines
        *others, ours = (line.get_zorder() for line in lines[::2])
        assert ours < min(others) < max(others) < greedy.get_zorder()
        assert all(dot.get_zorder() > greedy.get_zorder() for dot in lines[1::2])


def test_all_valleys_are_in_sight() -> None:
    for axis in alpha_sheet(grids(full_collection().losses), "logistic").axes:
        low, high = axis.get_ylim()
        assert all(low < line.get_ydata()[0] < high for line in axis.lines[2::2])
        assert low < 1.0 < high


def test_missing_methods_are_named_and_without_greedy_nothing_is_drawn() -> None:
    collection = without(full_collection(), dataset="bank", method="margin")
    collection = without(collection, dataset="adult", method="greedy")
    axes = alpha_sheet(grids(collection.losses), "linear").axes

    def notes(axis: Axes) -> list[str]:
        return [text.get_text() for text in axis.texts]

    assert notes(axes[0]) == ["missing: greedy"]
    assert not axes[0].lines
    assert notes(axes[2]) == ["missing: margin"]
    assert notes(axes[4]) == []


def test_a_method_with_a_gap_on_the_reported_splits_is_missing() -> None:
    losses = full_collection().losses
    gap = (losses["dataset"] == "bank") & (losses["method"] == "ours") & (losses["split"] == 3)
    axes = alpha_sheet(grids(losses[~gap]), "linear").axes
    assert [text.get_text() for text in axes[2].texts] == ["missing: ours"]

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

from pipeline.paper.figures.panels import draw_ratios, note_missing
from pipeline.paper.published import METHODS
from pipeline.view.curves import draw_lines
from pipeline.view.style import look
from tests.view.made_up_curves import setting


def test_ours_lies_below_the_dashes_that_would_vanish_under_it() -> None:
    panel = setting("they coincide", {method: np.ones((2, 5)) for method in METHODS})
    for draws in (draw_lines, draw_ratios):
        axis = Figure().subplots()
        draws(axis, panel.lines)
        heights = {line.get_color(): line.get_zorder() for line in axis.lines}
        order = sorted(METHODS, key=lambda method: heights[look(method).colour])
        assert order[0] == "ours"
        assert order[-1] == "greedy"
        assert len(set(heights.values())) == len(METHODS)
        assert all(band.get_zorder() < min(heights.values()) for band in axis.collections)


def test_what_is_missing_is_said() -> None:
    axis = Figure().subplots()
    note_missing(axis, ["os_noise"])
    assert [text.get_text() for text in axis.texts] == ["missing: one-sided noise"]


def test_ratios_tell_coinciding_lines_apart() -> None:
    curve = np.cumsum(np.full((2, 50), 10.0), axis=1)
    lines = setting("close", {"greedy": curve, "ours": 0.99 * curve, "noise": 1.001 * curve}).lines
    axis = Figure().subplots()
    draw_ratios(axis, lines)
    for line, ratio in zip(axis.lines, (0.0, -0.01, 0.001), strict=True):
        np.testing.assert_allclose(line.get_ydata(), ratio, atol=1e-12)
    low, high = axis.get_ylim()
    assert -0.02 < low < -0.01
    assert 0.001 < high < 0.01
    assert axis.yaxis.get_major_formatter()(-0.005, 0) == "−0.5%"


def test_ratios_begin_where_greedy_has_lost_something() -> None:
    greedy = np.concatenate([np.zeros((2, 10)), np.ones((2, 40))], axis=1)
    axis = Figure().subplots()
    draw_ratios(axis, setting("late", {"greedy": greedy, "ours": np.ones((2, 50))}).lines)
    assert np.isnan(axis.lines[1].get_ydata()[:6]).all()
    assert axis.lines[1].get_ydata()[6:] == pytest.approx(0.0)
    assert np.isfinite(axis.get_ylim()).all()


def test_without_greedy_there_is_nothing_to_divide_by() -> None:
    axis = Figure().subplots()
    draw_ratios(axis, setting("alone", {"ours": np.ones((2, 5))}).lines)
    assert not axis.lines

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import matplotlib.image
import numpy as np
import pytest
from matplotlib.figure import Figure

from pipeline.paper.curves import Panel, draw, draw_lines, draw_ratios, layer
from pipeline.paper.published import METHODS
from pipeline.paper.style import look
from pipeline.results.average import average_loss


def setting(title: str, curves: Mapping[str, np.ndarray]) -> Panel:
    """A panel of R_t, splits × rounds, by method."""
    lines = {}
    for method, losses in curves.items():
        splits, rounds = np.indices(losses.shape)
        columns = {"split": splits.ravel(), "round": rounds.ravel() + 1, "loss": losses.ravel()}
        lines[method] = average_loss(columns)
    return Panel(title, lines)


def panel(n_splits: int) -> Panel:
    curve = np.cumsum(np.full((n_splits, 50), 0.1), axis=1)
    return setting("a setting", {"greedy": curve, "ours": 0.5 * curve})


def test_the_picture_is_written_whole_and_is_not_blank(tmp_path: Path) -> None:
    path = tmp_path / "new" / "picture.png"
    draw([panel(3), panel(1), panel(2)], path)
    pixels = matplotlib.image.imread(path)
    assert pixels.shape[0] > 400
    assert pixels.shape[1] > 800
    assert len(np.unique(pixels.reshape(-1, pixels.shape[2]), axis=0)) > 50
    assert [file.name for file in path.parent.iterdir()] == ["picture.png"]


def test_a_loss_of_zero_can_be_drawn(tmp_path: Path) -> None:
    flat = setting("perfect", {"ours": np.zeros((2, 10))})
    draw([flat], tmp_path / "flat.png", columns=1)
    assert (tmp_path / "flat.png").stat().st_size > 0


def test_a_panel_of_splits_has_their_mean_and_standard_error() -> None:
    rounds = np.arange(1, 6)
    line = setting("a setting", {"ours": np.outer([1.0, 3.0], rounds)}).lines["ours"]
    np.testing.assert_allclose(line.mean, 2.0)
    np.testing.assert_allclose(line.error, 1.0)


def test_the_legend_names_methods_that_the_first_panel_lacks(tmp_path: Path) -> None:
    panels = [setting(m, {m: np.ones((2, 5))}) for m in ("greedy", "ours")]
    both = [setting("both", {m: np.ones((2, 5)) for m in ("greedy", "ours")})] * 2
    draw(panels, tmp_path / "one.png")
    draw(both, tmp_path / "both.png")
    one, two = (matplotlib.image.imread(tmp_path / name) for name in ("one.png", "both.png"))
    np.testing.assert_array_equal(one[-60:], two[-60:])


def test_what_is_missing_is_said() -> None:
    axis = Figure().subplots()
    draw_lines(axis, panel(2).lines, ["os_noise"])
    assert [text.get_text() for text in axis.texts] == ["missing: one-sided noise"]


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


def test_the_thicker_and_the_more_solid_a_line_the_lower_it_lies() -> None:
    assert layer("ours") < layer("os_noise") < layer("greedy")  # solid, long dashes, dots


def test_a_band_can_be_seen() -> None:
    axis = Figure().subplots()
    draw_lines(axis, panel(3).lines)
    assert all(band.get_alpha() >= 0.12 for band in axis.collections)


def test_the_lines_use_their_panel_and_bands_stay_inside() -> None:
    losses = np.outer([0.9, 1.0, 1.1], np.linspace(10.0, 11.0, 50) * np.arange(1, 51))
    lines = setting("far from zero", {"ours": losses}).lines
    axis = Figure().subplots()
    draw_lines(axis, lines)
    low, high = axis.get_ylim()
    bottom, top = lines["ours"].mean - lines["ours"].error, lines["ours"].mean + lines["ours"].error
    assert low < bottom[5:].min()
    assert top[5:].max() < high
    assert high - low < 1.2 * (top.max() - bottom.min())


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

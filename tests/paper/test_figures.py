from __future__ import annotations

from pathlib import Path

import matplotlib.image
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pipeline.paper.__main__ import main
from pipeline.paper.by_setting import Grid, Lines, grids, lines_of, relative
from pipeline.paper.figures import PANELS, RATIO, alpha_sheet, draw_ratios, figure_of, note_missing
from pipeline.paper.published import METHODS, Setting, in_text
from pipeline.view.curves import AVERAGE_LOSS, draw_lines
from pipeline.view.figure import save_all
from pipeline.view.style import look
from tests.paper.made_up_collection import without
from tests.paper.made_up_paper import full_collection
from tests.view.made_up_curves import setting

PAIR = [Setting("linear", *panel) for panel in PANELS]
SPLITS = tuple(range(10))


@pytest.fixture(scope="module")
def lines() -> Lines:
    return lines_of(full_collection().curves)


def notes(axis: Axes) -> list[str]:
    return [text.get_text() for text in axis.texts]


def panels(figure: Figure) -> tuple[list[Axes], list[Axes]]:
    """Return the panels of losses and those of ratios: below them, on a sheet beside them."""
    axes = figure.axes
    return (axes[:2], axes[2:]) if len(axes) == 4 else (axes[::2], axes[1::2])


def test_every_panel_has_all_methods_in_their_looks(lines: Lines) -> None:
    for settings in (PAIR, [s for s in in_text() if s.link == "logistic"]):
        losses, ratios = panels(figure_of(lines, settings))
        assert len(losses) == len(ratios) == len(settings)
        for axis in (*losses, *ratios):
            colours = [line.get_color() for line in axis.lines]
            assert colours == [look(method).colour for method in METHODS]
            assert not notes(axis)
        assert all(len(axis.collections) == len(METHODS) for axis in losses)


def test_beside_each_loss_is_its_ratio_to_greedy(lines: Lines) -> None:
    for settings in (PAIR, [s for s in in_text() if s.link == "logistic"]):
        for loss, ratio in zip(*panels(figure_of(lines, settings)), strict=True):
            greedy, ours = (loss.lines[METHODS.index(m)].get_ydata() for m in ("greedy", "ours"))
            shown = ratio.lines[METHODS.index("ours")].get_ydata()
            np.testing.assert_allclose(shown, (ours / greedy - 1.0)[-len(shown) :])
            assert not ratio.lines[METHODS.index("greedy")].get_ydata().any()
            assert loss.get_xlim() == ratio.get_xlim()


def test_a_line_is_the_mean_and_its_band_one_standard_error(lines: Lines) -> None:
    axis = figure_of(lines, PAIR).axes[1]
    ours = lines[PAIR[1]]["ours"]
    np.testing.assert_array_equal(axis.lines[-1].get_ydata(), ours.mean)
    heights = axis.collections[-1].get_paths()[0].vertices[:, 1]
    assert heights.max() == pytest.approx((ours.mean + ours.error).max())
    curves = full_collection().curves
    part = curves[(curves["dataset"] == "bank") & (curves["cutoff"] == "0.7")]
    part = part[(part["method"] == "ours") & (part["link"] == "linear")]
    np.testing.assert_array_equal(ours.mean, part["mean"])


def test_early_rounds_do_not_set_the_scale(lines: Lines) -> None:
    axis = figure_of(lines, PAIR).axes[0]
    late = slice(np.searchsorted(lines[PAIR[0]]["ours"].rounds, 4_800), None)
    tops = [(line.mean + line.error)[late].max() for line in lines[PAIR[0]].values()]
    bottoms = [(line.mean - line.error)[late].min() for line in lines[PAIR[0]].values()]
    room = 0.06 * (max(tops) - min(bottoms))
    assert axis.get_ylim() == pytest.approx((max(min(bottoms) - room, 0.0), max(tops) + room))
    assert axis.get_xlim() == (0, 48_000)
    assert axis.xaxis.get_major_formatter()(48_000, 0) == "48,000"


def test_missing_curves_are_named_in_the_panel() -> None:
    curves = without(full_collection(), dataset="bank", method="ours").curves
    curves = curves[~((curves["dataset"] == "adult") & (curves["cutoff"] == "0.5"))]
    first, second, *_ = figure_of(lines_of(curves), PAIR).axes
    assert notes(first) == ["missing: all methods"]
    assert notes(second) == ["missing: ours"]


def test_sheets_name_rows_and_columns(lines: Lines) -> None:
    axes = figure_of(lines, [s for s in in_text() if s.link == "linear"]).axes
    titles = ["cutoff 50%", RATIO, "cutoff 70%", RATIO, "", ""]
    assert [axis.get_title() for axis in axes[:6]] == titles
    assert [axis.get_ylabel() for axis in axes[:6]] == ["Adult", "", "", "", "Bank", ""]
    assert [axis.get_xlabel() for axis in axes[-4:]] == ["round t"] * 4


def test_a_pair_names_its_settings_and_both_axes(lines: Lines) -> None:
    axes = figure_of(lines, PAIR).axes
    assert [axis.get_title() for axis in axes] == ["Adult, 50%", "Bank, 70%", "", ""]
    assert [axis.get_ylabel() for axis in axes] == [AVERAGE_LOSS, "", RATIO, ""]
    assert [axis.get_xlabel() for axis in axes] == ["", "", "round t", "round t"]


def test_the_legend_names_all_methods(lines: Lines) -> None:
    (legend,) = figure_of(lines, PAIR).legends
    assert [text.get_text() for text in legend.get_texts()] == [look(m).label for m in METHODS]


def test_a_figure_is_written_as_png_and_pdf_the_same_every_time(
    lines: Lines, tmp_path: Path
) -> None:
    for folder in (tmp_path / "a", tmp_path / "b"):
        save_all(figure_of(lines, PAIR), folder, "figure1")
        assert matplotlib.image.imread(folder / "figure1.png").shape[:2] == (1024, 1472)
        assert (folder / "figure1.pdf").read_bytes().startswith(b"%PDF")
    for name in ("figure1.png", "figure1.pdf"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_the_command_writes_six_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    written: list[str] = []

    def note(figure: Figure, _: Path, name: str) -> None:  # drawing them takes its time
        written.append(name)
        assert figure.axes

    monkeypatch.setattr("pipeline.paper.figures.save_all", note)
    full_collection().write(tmp_path / "paper")
    out = tmp_path / "out"
    assert main(["figures", "--collection", str(tmp_path / "paper"), "--out", str(out)]) == 0
    assert str(out) in capsys.readouterr().out
    assert sorted(written) == [
        "alpha_linear", "alpha_logistic", "curves_linear", "curves_logistic", "figure1", "figure2",
    ]  # fmt: skip


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

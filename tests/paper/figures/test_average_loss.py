from __future__ import annotations

from pathlib import Path

import matplotlib.image
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pipeline.paper.__main__ import main
from pipeline.paper.by_setting import Lines, Setting, in_text, lines_of
from pipeline.paper.figures.average_loss import PANELS, RATIO, figure_of
from pipeline.paper.published import METHODS
from pipeline.view.curves import AVERAGE_LOSS
from pipeline.view.figure import save_all
from pipeline.view.style import look
from tests.paper.made_up_collection import without
from tests.paper.made_up_paper import full_collection

PAIR = [Setting("linear", *panel) for panel in PANELS]


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
        png, pdf = save_all(figure_of(lines, PAIR), folder, "figure1")
        assert matplotlib.image.imread(png).shape[:2] == (1024, 1472)
        assert pdf.read_bytes().startswith(b"%PDF")
    for name in ("figure1.png", "figure1.pdf"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_the_command_writes_six_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    written: list[str] = []

    def note(figure: Figure, _: Path, name: str) -> list[Path]:  # drawing them takes its time
        written.append(name)
        assert figure.axes
        return []

    monkeypatch.setattr("pipeline.paper.figures.average_loss.save_all", note)
    monkeypatch.setattr("pipeline.paper.figures.loss_by_alpha.save_all", note)
    full_collection().write(tmp_path / "paper")
    out = tmp_path / "out"
    assert main(["figures", "--collection", str(tmp_path / "paper"), "--out", str(out)]) == 0
    assert str(out) in capsys.readouterr().out
    assert sorted(written) == [
        "alpha_linear", "alpha_logistic", "curves_linear", "curves_logistic", "figure1", "figure2",
    ]  # fmt: skip

from __future__ import annotations

from pathlib import Path

import matplotlib.image
import numpy as np
from matplotlib.figure import Figure

from pipeline.view.curves import draw, draw_lines, layer
from tests.view.made_up_curves import panel, setting


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

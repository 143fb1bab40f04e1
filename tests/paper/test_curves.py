from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import matplotlib.image
import numpy as np
from matplotlib.figure import Figure

from pipeline.paper.curves import Panel, draw, draw_lines
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

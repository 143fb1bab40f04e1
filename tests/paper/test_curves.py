from __future__ import annotations

from pathlib import Path

import matplotlib.image
import numpy as np

from pipeline.paper.curves import Panel, draw


def panel(n_splits: int) -> Panel:
    rounds = np.arange(1, 51)
    curve = np.cumsum(np.full((n_splits, 50), 0.1), axis=1)
    return Panel("a setting", rounds, {"greedy": curve, "ours": 0.5 * curve})


def test_the_picture_is_written_whole_and_is_not_blank(tmp_path: Path) -> None:
    path = tmp_path / "new" / "picture.png"
    draw([panel(3), panel(1), panel(2)], path)
    pixels = matplotlib.image.imread(path)
    assert pixels.shape[0] > 400
    assert pixels.shape[1] > 800
    assert len(np.unique(pixels.reshape(-1, pixels.shape[2]), axis=0)) > 50
    assert [file.name for file in path.parent.iterdir()] == ["picture.png"]


def test_a_loss_of_zero_can_be_drawn(tmp_path: Path) -> None:
    flat = Panel("perfect", np.arange(1, 11), {"ours": np.zeros((2, 10))})
    draw([flat], tmp_path / "flat.png", columns=1)
    assert (tmp_path / "flat.png").stat().st_size > 0

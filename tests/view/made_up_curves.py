"""Panels of curves made up for tests."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pipeline.results.average import average_loss
from pipeline.view.curves import Panel


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

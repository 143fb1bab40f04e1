"""Greedy of the warm-start screen against the engine, and what its treatments mean."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import warm_starts
from warm_starts import TREATMENTS, Treatment

from pipeline.core.engine import simulate
from pipeline.core.lanes import grid
from pipeline.core.loss import cutoff_at
from pipeline.core.models.base import ModelSpec
from pipeline.data.dataset import load


@pytest.fixture(scope="module")
def problem() -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    data = load("blood")
    X = warm_starts.design(data)
    truth = X @ np.linalg.lstsq(X, data.y, rcond=None)[0]
    return X, data.y, truth, cutoff_at(truth, 0.5)


@pytest.mark.parametrize("treatment", [Treatment(count=50), Treatment()], ids=["count", "share"])
def test_greedy_loses_what_the_engine_says(problem, treatment: Treatment) -> None:  # type: ignore[no-untyped-def]
    X, y, truth, cutoff = problem
    split, factor = warm_starts.draw(y, treatment, 3)
    found = simulate(
        X, y, truth=truth, splits=[split], lanes=grid(["greedy"], [1.0], [cutoff], 1),
        spec=ModelSpec(fit_intercept=False),
    )  # fmt: skip
    loss, _ = warm_starts.greedy(X, y, truth, split, cutoff, treatment)
    assert factor == 1.0
    assert loss == pytest.approx(float(found.loss[0]), rel=1e-6)


def test_their_own_loss_is_added(problem) -> None:  # type: ignore[no-untyped-def]
    X, y, truth, cutoff = problem
    split, _ = warm_starts.draw(y, Treatment(), 3)
    own = np.maximum(cutoff - truth[split.initial], 0.0).sum()
    plain, _ = warm_starts.greedy(X, y, truth, split, cutoff, Treatment())
    counted, _ = warm_starts.greedy(X, y, truth, split, cutoff, Treatment(own_loss="accepted"))
    assert counted - plain == pytest.approx(own)


def test_a_drawn_part_of_the_rows_has_its_own_warm_start() -> None:
    y = (np.arange(4000) % 4 == 0).astype(float)
    split, factor = warm_starts.draw(y, replace(Treatment(), rows=1000, scaled=True), 0)
    assert (len(split.initial), len(split.stream), factor) == (50, 950, 4.0)
    assert len(set(split.initial) | set(split.stream)) == 1000


def test_labels_that_were_not_observed_are_not_read(problem) -> None:  # type: ignore[no-untyped-def]
    X, y, truth, cutoff = problem
    split, _ = warm_starts.draw(y, Treatment(), 3)
    for treatment in TREATMENTS.values():
        loss, accepted = warm_starts.greedy(X, y, truth, split, cutoff, treatment)
        poisoned = y.copy()
        poisoned[np.setdiff1d(split.stream, accepted)] = np.nan
        assert np.isnan(poisoned).any()
        found = warm_starts.greedy(X, poisoned, truth, split, cutoff, treatment)
        assert found == (loss, accepted)

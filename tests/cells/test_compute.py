"""A cell's outcome against a plain call of the engine and a plain sum."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pipeline.cells.cell import Cell
from pipeline.cells.compute import compute
from pipeline.cells.problem import problem_of
from pipeline.cells.read import make_cell
from pipeline.core.learner import OneSidedLearner
from pipeline.core.loss import cutoff_at, fit_truth
from pipeline.core.models.base import ModelSpec
from pipeline.data.dataset import load
from pipeline.data.splits import stratified_split
from pipeline.results.average import group_rates
from pipeline.results.outcome import Outcome
from tests.cells.configs import SMALL, places, values


def outcomes(*cells: Cell) -> list[Outcome]:
    return compute(cells, problem_of(cells[0], places(Path("outputs")).data))


def test_a_loss_is_what_the_learner_loses_row_by_row() -> None:
    """The streaming learner, driven by hand from the raw dataset, gives the same figures."""
    (found,) = outcomes(make_cell(values("dataset=blood", "cutoff=0.7", *SMALL)))
    data = load("blood", offline=True)
    truth = fit_truth(data.X, data.y, ModelSpec(l2=0.0))
    cutoff = cutoff_at(truth, 0.7)
    assert found.summary["cutoff_value"] == cutoff
    for alpha in (0.1, 1.0):
        for number in range(2):
            split = stratified_split(data.y, int(np.ceil(0.05 * len(data.y))), 0, number)
            learner = OneSidedLearner(link="linear", method="ours", cutoff=cutoff, alpha=alpha)
            learner.fit(data.X[split.initial], data.y[split.initial])
            loss = 0.0
            for row in split.stream:
                decision = learner.decide(data.X[[row]])
                if decision.accepted[0]:
                    learner.learn(decision.ids, data.y[[row]])
                if decision.accepted[0] != (truth[row] > cutoff):
                    loss += abs(truth[row] - cutoff)
            chosen = (found.losses["alpha"] == alpha) & (found.losses["split"] == number)
            np.testing.assert_allclose(found.losses["loss"][chosen], [loss], rtol=1e-9)


def test_the_summary_is_what_the_table_of_losses_says() -> None:
    (found,) = outcomes(make_cell(values("dataset=diabetes", "method=margin", *SMALL)))
    means = {a: found.losses["loss"][found.losses["alpha"] == a].mean() for a in (0.1, 1.0)}
    best = min(means, key=means.__getitem__)
    tuned = found.losses["loss"][found.losses["alpha"] == best]
    assert found.summary["alpha"] == best
    assert found.summary["loss"] == pytest.approx(tuned.mean())
    assert found.summary["standard_error"] == pytest.approx(tuned.std(ddof=1) / np.sqrt(2))
    chosen = found.losses["alpha"] == best
    rate = found.losses["accepted"][chosen].sum() / found.losses["rows"][chosen].sum()
    assert found.summary["accepted_rate"] == pytest.approx(rate)
    last = found.curves["round"] == found.summary["n_rounds"]
    np.testing.assert_allclose(found.curves["loss"][last], tuned)


def test_cells_of_a_problem_may_share_one_call() -> None:
    cells = [
        make_cell(values("dataset=blood", f"method={method}", f"cutoff={cutoff}", *SMALL))
        for method in ("greedy", "noise", "ours")
        for cutoff in (0.5, 0.8)
    ]
    for cell, joint in zip(cells, outcomes(*cells), strict=True):
        (alone,) = outcomes(cell)
        assert joint.summary == alone.summary
        for name, column in alone.losses.items():
            np.testing.assert_array_equal(joint.losses[name], column)
        for name, column in alone.curves.items():
            np.testing.assert_array_equal(joint.curves[name], column)


def test_a_split_is_the_same_whichever_others_are_asked_for() -> None:
    few = ("dataset=blood", "method=noise", "alpha=[1]", "tracking=none")
    (some,) = outcomes(make_cell(values(*few, "splits=[3,1]")))
    (all_,) = outcomes(make_cell(values(*few, "splits=4")))
    for split in (1, 3):
        mine, theirs = (o.losses["loss"][o.losses["split"] == split] for o in (some, all_))
        np.testing.assert_array_equal(mine, theirs)


def test_groups_add_up_to_the_whole() -> None:
    (found,) = outcomes(make_cell(values("dataset=german", "dataset.group=foreign", *SMALL)))
    assert found.groups is not None
    total = np.zeros(len(found.losses["loss"]))
    for name in np.unique(found.groups["group"]):
        total += found.groups["loss"][found.groups["group"] == name]
    np.testing.assert_allclose(total, found.losses["loss"])
    rates = group_rates(found)
    assert sum(rate.loss for rate in rates) == pytest.approx(found.summary["loss"])
    accepted = sum((rate.accepted_rate or 0) * rate.rows for rate in rates)
    rows = sum(rate.rows for rate in rates)
    assert accepted / rows == pytest.approx(found.summary["accepted_rate"])


def test_labels_that_were_not_seen_do_not_matter() -> None:
    """Every label after the warm start of a method that accepts nothing is NaN."""
    cell = make_cell(values("dataset=blood", "cutoff_value=1e9", "method=greedy", *SMALL))
    (before,) = outcomes(cell)
    problem = problem_of(cell, places(Path("outputs")).data)
    y = np.full_like(problem.dataset.y, np.nan)
    for split in problem.splits:
        y[split.initial] = problem.dataset.y[split.initial]
    poisoned = replace(problem.dataset, y=y)
    changed = replace(problem, dataset=poisoned)
    (after,) = compute([cell], changed)
    assert before.summary == after.summary

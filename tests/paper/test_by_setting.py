from __future__ import annotations

import numpy as np
import pytest

from pipeline.paper.by_setting import REPORTED, Grid, grids
from pipeline.paper.collection import CollectionError
from pipeline.paper.published import Setting, absent, in_text, present
from tests.paper.made_up_paper import full_collection


def grid(loss: list[list[float]], alphas: tuple[float, ...] = (0.25, 0.5)) -> Grid:
    return Grid(np.array(alphas), tuple(range(len(loss[0]))), np.array(loss))


def test_the_smallest_of_equally_good_alphas_is_tuned() -> None:
    assert grid([[1, 3], [2, 2], [0, 4]], (0.1, 0.2, 0.4)).tuned((0, 1)) == 0
    assert grid([[1, 3], [2, 2], [0, 4]], (0.1, 0.2, 0.4)).tuned((0,)) == 2


def test_what_was_not_run_is_nan_and_not_had() -> None:
    found = grid([[1.0, 2.0], [3.0, np.nan]])
    assert found.has((0,))
    assert not found.has((0, 1))
    assert not found.has((0, 7))
    np.testing.assert_array_equal(found.on((7, 0)), [[np.nan, 1.0], [np.nan, 3.0]])


def test_grids_hold_the_losses_and_tune_as_the_cells_say() -> None:
    collection = full_collection()
    found = grids(collection.losses)
    assert len(found) == 200
    for cell in collection.cells.sample(40, random_state=0).to_dict("records"):
        of = found[Setting(cell["link"], cell["dataset"], cell["cutoff"])][cell["method"]]
        row = of.tuned(REPORTED)
        assert of.alphas[row] == cell["alpha"]
        assert of.on(REPORTED)[row].mean() == pytest.approx(cell["loss"])


def test_a_loss_that_is_there_twice_is_refused() -> None:
    losses = full_collection().losses.head(400)
    with pytest.raises(CollectionError, match=r"linear adult .* duplicates"):
        grids(losses.loc[[*losses.index, losses.index[0]]])


def test_settings_are_those_of_tables_1_and_2_in_order() -> None:
    settings = in_text()
    assert len(settings) == len(set(settings)) == 40
    assert settings[0] == Setting("linear", "adult", "0.5")
    assert settings[0].name == "Adult, 50%"
    assert settings[-1] == Setting("logistic", "churn", "0.7")


def test_methods_come_in_the_papers_order() -> None:
    found = dict.fromkeys(("zeta", "ours", "greedy"))
    assert present(found) == ["greedy", "ours", "zeta"]
    assert absent(found) == ["eps_greedy", "os_eps_greedy", "noise", "os_noise", "margin"]

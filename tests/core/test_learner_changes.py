"""The learner changed after its warm start: other settings, refits put off, labels that fail."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pipeline.core.engine import grid, lane_key
from pipeline.core.learner import OneSidedLearner
from pipeline.core.links import get_link
from pipeline.core.methods.checks.streams import LINK_NAMES, drive, make_stream, run_engine
from pipeline.core.models.base import ModelSpec

# --- other settings -------------------------------------------------------------------------------


@pytest.mark.parametrize("link", LINK_NAMES)
@pytest.mark.parametrize("score", ["mean", "contrast"])
def test_cutoff_and_alpha_take_effect_at_once(link: str, score: str, tmp_path: Path) -> None:
    X0, y0, X, y = make_stream(link).ordered()
    changed = OneSidedLearner(link, cutoff=9.0, alpha=1.0, score=score).fit(X0, y0)
    changed.cutoff, changed.alpha = 0.4, 0.1
    wanted = OneSidedLearner(link, cutoff=0.4, alpha=0.1, score=score).fit(X0, y0)
    for ours, theirs in zip(drive(changed, X, y, 9), drive(wanted, X, y, 9), strict=True):
        assert ours.bonus.tobytes() == theirs.bonus.tobytes()
        assert ours.accepted.tolist() == theirs.accepted.tolist()
    changed.save(tmp_path / "learner")
    assert OneSidedLearner.load(tmp_path / "learner").cutoff == 0.4


def test_constants_of_the_theory_follow_the_cutoff() -> None:
    X0, y0, X, _ = make_stream("logistic").ordered()
    learner = OneSidedLearner("logistic", "ours_theory", cutoff=0.9).fit(X0, y0)
    learner.cutoff = 0.2
    wanted = OneSidedLearner("logistic", "ours_theory", cutoff=0.2).fit(X0, y0)
    for rows in (X[:3], X[3:9]):
        assert learner.decide(rows).bonus.tobytes() == wanted.decide(rows).bonus.tobytes()


@pytest.mark.parametrize("method", ["erm", "passive"])
def test_a_model_that_knows_the_cutoff_refuses_another(method: str) -> None:
    X0, y0, _, _ = make_stream("linear").ordered()
    learner = OneSidedLearner(method=method, cutoff=0.3)
    learner.cutoff = 0.2  # before the warm start it is but a setting
    learner.fit(X0, y0)
    with pytest.raises(ValueError, match=r"has learned for the cutoff 0\.2: make a learner"):
        learner.cutoff = 0.4
    assert learner.cutoff == 0.2


@pytest.mark.parametrize(("name", "value"), [("cutoff", np.nan), ("alpha", -1.0), ("alpha", "x")])
def test_values_that_cannot_be_are_refused_and_change_nothing(name: str, value: object) -> None:
    learner = OneSidedLearner(cutoff=0.3, alpha=0.5)
    with pytest.raises(ValueError, match=name):
        setattr(learner, name, value)
    assert (learner.cutoff, learner.alpha) == (0.3, 0.5)


# --- β found anew after some labels ---------------------------------------------------------------


@pytest.mark.parametrize("link", ["logistic", "probit"])
@pytest.mark.parametrize("every", [2, 5, 13])
def test_refit_every(link: str, every: int, tmp_path: Path) -> None:
    """Between refits β stays, the width follows every label; at a refit β is that of all rows."""
    X0, y0, X, y = make_stream(link).ordered()
    options = {"cutoff": -9.0, "alpha": 0.3}  # accepts all
    lazy = OneSidedLearner(link, **options, refit_every=every).fit(X0, y0)
    eager = OneSidedLearner(link, **options).fit(X0, y0)
    for n in range(40):
        before = lazy.coef_
        for learner in (lazy, eager):
            learner.learn(learner.decide(X[n : n + 1]).ids, y[n : n + 1])
        np.testing.assert_allclose(lazy.width(X), eager.width(X), rtol=1e-12)
        if (n + 1) % every:
            assert lazy.coef_.tobytes() == before.tobytes()
        else:
            np.testing.assert_allclose(lazy.coef_, eager.coef_, rtol=1e-7)
        if n == 20:
            lazy.save(tmp_path / "learner")
            lazy = OneSidedLearner.load(tmp_path / "learner")
    assert lazy.spec.refit_every == every


@pytest.mark.parametrize("batch", [1, 4])
def test_engine_and_learner_refit_in_the_same_rounds(batch: int) -> None:
    stream, spec = make_stream("logistic"), ModelSpec(get_link("logistic"), refit_every=7)
    (lane,) = grid(["ours"], [0.3], [stream.cutoff], 1)
    engine = run_engine(stream, [lane], spec=spec, batch_size=batch)
    X0, y0, X, y = stream.ordered()
    seed = lane_key(lane, 0, "fresh")
    learner = OneSidedLearner("logistic", "ours", stream.cutoff, 0.3, seed=seed, refit_every=7)
    accepted = [decision.accepted for decision in drive(learner.fit(X0, y0), X, y, batch)]
    assert np.concatenate(accepted).tolist() == engine.decisions[0].tolist()


@pytest.mark.parametrize("every", [0, -1, 1.5, "2"])
def test_refit_every_is_a_number_of_labels(every: object) -> None:
    with pytest.raises(ValueError, match="refit_every must be an integer >= 1"):
        OneSidedLearner(refit_every=every)


# --- labels that fail -----------------------------------------------------------------------------


@pytest.mark.parametrize("grow", ["label", "acceptance"])
def test_a_learn_that_fails_changes_nothing(grow: str, tmp_path: Path) -> None:
    X0, y0, X, y = make_stream("logistic").ordered()
    learner = OneSidedLearner("logistic", "greedy", -9.0, l2=0.0, grow=grow).fit(X0, y0)
    rng = np.random.default_rng(0)
    ids = learner.decide(1e6 * rng.normal(size=(3, X.shape[1]))).ids
    learner.save(tmp_path / "before")
    with pytest.raises(ValueError, match="no finite optimum"):
        learner.learn(ids, rng.integers(0, 2, 3))
    learner.save(tmp_path / "after")
    assert (tmp_path / "after").read_bytes() == (tmp_path / "before").read_bytes()
    learner.forget(ids)
    list(drive(learner, X, y, 5))

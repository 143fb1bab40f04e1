"""One-sided loss against a loop over Definition 1, and the bookkeeping against numpy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from pipeline.core import loss
from pipeline.core.links import LINKS
from pipeline.core.models.base import ModelSpec
from tests.core.reference import CURVES, best_fit, design, make_table

finite = st.floats(-1e6, 1e6)
decided = st.lists(st.tuples(finite, st.booleans(), st.integers(0, 2)), min_size=1, max_size=60)


def by_definition(truth: float, cutoff: float, accepted: bool) -> float:
    """|μ(x'β*) − c| if exactly one of "truly above" and "accepted" holds, else 0."""
    if truth > cutoff and not accepted:
        return truth - cutoff
    if truth <= cutoff and accepted:
        return cutoff - truth
    return 0.0


def columns(rows: list) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    truth, accepted, group = zip(*rows, strict=True)
    return np.array(truth), np.array(accepted, dtype=bool), np.array(group, dtype=np.int64)


@given(rows=decided, cutoff=finite)
def test_loss_is_that_of_the_definition(rows: list, cutoff: float) -> None:
    truth, accepted, _ = columns(rows)
    found = loss.one_sided_loss(truth, cutoff, accepted)
    assert found.tolist() == [by_definition(t, cutoff, a) for t, a, _ in rows]
    assert (found >= 0).all()


@given(rows=decided)
def test_oracle_loses_nothing(rows: list) -> None:
    truth, _, _ = columns(rows)
    cutoff = truth[0]  # a row on the cutoff is not above it
    assert_array_equal(loss.one_sided_loss(truth, cutoff, truth > cutoff), np.zeros(len(truth)))
    contrary = loss.one_sided_loss(truth, cutoff, truth <= cutoff)
    assert_array_equal(contrary, np.abs(truth - cutoff))


@settings(deadline=None)
@given(rows=decided, cutoff=finite, batch=st.integers(1, 70), points=st.integers(2, 20))
def test_tally(rows: list, cutoff: float, batch: int, points: int) -> None:
    truth, accepted, group = columns(rows)
    n_rounds = -(-len(rows) // batch)
    rounds = loss.curve_rounds(n_rounds, points)
    curve, counts, group_loss = np.full(len(rounds), np.nan), np.zeros((3, 5), int), np.zeros(3)
    sums = (curve[None], counts[None], group_loss[None])
    loss.tally_lanes(accepted[None], truth, np.array([cutoff]), group, batch, rounds, *sums)

    lost = np.array([by_definition(t, cutoff, a) for t, a, _ in rows])
    ends = np.minimum(rounds * batch, len(rows))
    assert_allclose(curve, np.cumsum(lost)[ends - 1], rtol=1e-12)
    above = truth > cutoff
    for g in range(3):
        member = group == g
        flags = (member, above, accepted, above & ~accepted, ~above & accepted)
        assert counts[g].tolist() == [int((member & flag).sum()) for flag in flags]
        assert group_loss[g] == pytest.approx(lost[member].sum(), rel=1e-12)
    assert curve[-1] == pytest.approx(lost.sum(), rel=1e-12)


@given(n_rounds=st.integers(1, 100_000), points=st.integers(1, 400))
def test_curve_rounds(n_rounds: int, points: int) -> None:
    rounds = loss.curve_rounds(n_rounds, points)
    assert 1 <= len(rounds) <= points
    assert (np.diff(rounds) > 0).all()
    assert rounds[0] >= 1
    assert rounds[-1] == n_rounds


def test_curve_rounds_are_evenly_spread() -> None:
    assert_array_equal(loss.curve_rounds(7, 200), np.arange(1, 8))
    rounds = loss.curve_rounds(46_000, 200)
    assert len(rounds) == 200
    assert set(np.diff(rounds)) == {231, 232}


@pytest.mark.parametrize("score", ["mean", "contrast"])
def test_truth_of_a_singular_table_is_least_squares_of_minimum_norm(score: str) -> None:
    table = make_table("one_hot")
    spec = ModelSpec(l2=0.0, score=score)
    D = design(table.X, True)
    mean = D @ (np.linalg.pinv(D) @ table.real)
    truth = mean if score == "mean" else 2 * mean - 0.5
    assert_allclose(loss.fit_truth(table.X, table.real, spec), truth, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("score", ["mean", "contrast"])
def test_truth_is_the_fit_to_all_rows(link: str, score: str) -> None:
    table = make_table("random")
    spec = ModelSpec(LINKS[link], l2=0.5, score=score)
    D, curve = design(table.X, True), CURVES[link]
    beta, _ = best_fit(D, table.binary, np.full(7, 0.5), curve)
    mean = curve.mean(D @ beta).astype(float)
    truth = mean if score == "mean" else 2 * mean - 0.5
    assert_allclose(loss.fit_truth(table.X, table.binary, spec), truth, rtol=0, atol=1e-8)


@pytest.mark.parametrize("quantile", [0.1, 0.5, 0.7, 0.95])
def test_cutoff_has_that_share_below(quantile: float) -> None:
    truth = np.random.default_rng(0).permutation(np.linspace(-3, 5, 1001))
    cutoff = loss.cutoff_at(truth, quantile)
    assert cutoff == pytest.approx(-3 + 8 * quantile)
    assert (truth < cutoff).mean() == pytest.approx(quantile, abs=0.002)


@pytest.mark.parametrize("quantile", [0.0, 1.0, -0.1, 1.5, float("nan")])
def test_cutoff_quantile_must_lie_inside(quantile: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        loss.cutoff_at(np.arange(5.0), quantile)

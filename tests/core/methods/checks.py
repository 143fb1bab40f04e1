"""What every method owes, whoever wrote it: each check takes a method and finds fault with it.

A method that passes them reads no label it has not earned, explores with its own draws only, and
decides the same in the engine as in the streaming learner.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pipeline.core.engine import Lane, grid
from pipeline.core.kernels.draws import fill_draws
from pipeline.core.learner import Decision
from pipeline.core.links import get_link
from pipeline.core.methods import Method, Setting
from pipeline.core.methods.greedy import Greedy
from pipeline.core.models.base import Model, ModelSpec
from pipeline.core.models.glm import GLM
from tests.core.streams import Stream, all_bytes, drive, make_learner, make_stream, run_engine

# A bonus with the constants of a theorem is a hundred times larger than one that is tuned: between
# them these alphas make every method both accept and reject.
ALPHAS = (0.004, 0.5)
TWO_SIDED = frozenset({"eps_greedy", "noise"})


def lanes_of(method: Method, stream: Stream, alphas: tuple[float, ...] = ALPHAS) -> list[Lane]:
    return grid([method], alphas, [stream.cutoff], len(stream.splits))


def learner_decisions(
    lane: Lane, stream: Stream, batch: int, delay: int = 0, **options: Any
) -> list[Decision]:
    X0, y0, X, y = stream.ordered(lane.split)
    learner = make_learner(lane, stream.link, **options).fit(X0, y0)
    return list(drive(learner, X, options.pop("y", y), batch, delay))


@dataclass(frozen=True)
class GreedyOn(Greedy):
    """Greedy with the model of another method."""

    method: Method

    def make_model(self, spec: ModelSpec) -> Model:
        return self.method.make_model(spec)


def decides_both_ways(method: Method) -> None:
    """The alphas of these checks leave something to decide; else they would check nothing."""
    decisions = run_engine(stream := make_stream(), lanes_of(method, stream)).decisions
    assert any(0 < row.sum() < row.size for row in decisions)


def rejected_labels_are_never_read(method: Method, batch: int = 7, delay: int = 2) -> None:
    """NaN in place of the labels of rejected rows, and of those that come too late."""
    for link in ("linear", "logistic"):
        stream = make_stream(link)
        for lane in lanes_of(method, stream):
            clean = run_engine(stream, [lane], batch_size=batch, delay=delay)
            order = stream.splits[0].stream
            n_rounds = -(-len(order) // batch)
            unread = ~clean.decisions[0] | (np.arange(len(order)) // batch >= n_rounds - delay)
            y = stream.y.copy()
            y[order[unread]] = np.nan
            assert np.isnan(y).any()
            poisoned = run_engine(stream, [lane], y=y, batch_size=batch, delay=delay)
            assert all_bytes(poisoned) == all_bytes(clean)
            rounds = learner_decisions(lane, replace(stream, y=y), batch, delay)
            np.testing.assert_array_equal(joined(rounds, "accepted"), clean.decisions[0])


def order_of_lanes_changes_nothing(method: Method) -> None:
    stream = make_stream("logistic", n_splits=2)
    lanes = grid([method, "greedy", "os_noise"], ALPHAS, [stream.cutoff, 0.0], 2)
    order = np.random.default_rng(0).permutation(len(lanes))
    straight = run_engine(stream, lanes, batch_size=5)
    permuted = run_engine(stream, [lanes[i] for i in order], batch_size=5)
    for name in ("loss", "curve", "counts", "group_loss", "decisions"):
        expected = getattr(straight, name)[order]
        assert getattr(permuted, name).tobytes() == expected.tobytes(), name


def threads_change_no_byte(method: Method) -> None:
    for link in ("linear", "logistic"):
        stream = make_stream(link, n_splits=2)
        lanes = grid([method, "greedy"], ALPHAS, [stream.cutoff, 0.0], 2)
        one, two, again = (
            all_bytes(run_engine(stream, lanes, batch_size=5, n_threads=n)) for n in (1, 2, 2)
        )
        assert one == two == again


def only_draws_depend_on_the_seed(method: Method) -> None:
    stream = make_stream()
    lanes = lanes_of(method, stream)
    first, second, same = (
        all_bytes(run_engine(stream, lanes, batch_size=7, seed=seed)) for seed in (0, 1, 0)
    )
    assert first == same
    assert (first["decisions"] != second["decisions"]) == (method.n_draws > 0)


def alpha_zero_is_greedy(method: Method) -> None:
    if not method.has_alpha:
        return
    for link, time in itertools.product(("linear", "logistic"), ("rounds", "examples")):
        stream = make_stream(link)
        lanes = lanes_of(method, stream, (0.0,)) + lanes_of(GreedyOn(method), stream)
        result = run_engine(stream, lanes, batch_size=3, time=time)
        np.testing.assert_array_equal(*result.decisions)
        rounds = learner_decisions(lanes[0], stream, 3, time=time)
        np.testing.assert_array_equal(joined(rounds, "bonus"), 0.0)


def bonus_is_a_number(method: Method) -> None:
    """Never NaN, and never negative unless the method is known to be two-sided."""
    for link, alpha in itertools.product(("linear", "logistic"), (0.0, *ALPHAS, 4.0)):
        stream = make_stream(link)
        (lane,) = grid([method], [alpha], [stream.cutoff], 1)[:1]
        bonus = joined(learner_decisions(lane, stream, 3), "bonus")
        assert not np.isnan(bonus).any()
        assert method.name in TWO_SIDED or bonus.min() >= 0.0


def learner_adds_the_bonus(method: Method, batch: int = 5) -> None:
    """Decision.bonus is the method's own function at t, alpha, score, width and draws."""
    for link, time in itertools.product(("linear", "logistic"), ("rounds", "examples")):
        stream = make_stream(link)
        lane = lanes_of(method, stream)[-1]
        X0, y0, X, y = stream.ordered()
        learner = make_learner(lane, link, time=time).fit(X0, y0)
        setting = Setting(get_link(link), X.shape[1] + 1, lane.cutoff)
        alpha, draws = method.coefficient(lane.alpha, setting), np.empty(method.n_draws)
        for first in range(0, len(X), batch):
            rows = X[first : first + batch]
            width, t = learner.width(rows), first // batch + 1
            decision = learner.decide(rows)
            for i, score in enumerate(decision.score):
                fill_draws(learner.seed, first + i, draws)
                when = first + i + 1 if time == "examples" else t
                expected = method.bonus(float(when), alpha, score, width[i], draws)
                np.testing.assert_allclose(decision.bonus[i], expected, rtol=1e-12)
            learner.learn(decision.ids, y[first : first + batch][decision.accepted])


def loss_is_never_negative(method: Method) -> None:
    stream = make_stream("logistic", n_splits=2)
    group = np.arange(len(stream.y)) % 3
    result = run_engine(stream, lanes_of(method, stream), batch_size=4, group=group)
    assert result.loss.min() >= 0.0
    assert result.group_loss.min() >= 0.0
    assert (np.diff(result.curve, axis=1) >= 0.0).all()
    wrong = result.missed + result.wasted
    np.testing.assert_array_equal(result.loss > 0.0, wrong > 0)


CHECKS: tuple[Callable[[Method], None], ...] = (
    decides_both_ways,
    rejected_labels_are_never_read,
    order_of_lanes_changes_nothing,
    threads_change_no_byte,
    only_draws_depend_on_the_seed,
    alpha_zero_is_greedy,
    bonus_is_a_number,
    learner_adds_the_bonus,
    loss_is_never_negative,
)


def learner_equals_engine(method: Method, link: str) -> None:
    """Equal decisions round by round: every time unit, batch size, delay and growth of A."""
    stream = make_stream(link)
    cheap = link == "linear" or type(method.make_model(ModelSpec())) is GLM
    units, sizes, delays = ("rounds", "examples"), (1, 7, 50) if cheap else (7, 50), (0, 2)
    lanes = lanes_of(method, stream)
    settings = itertools.product(units, sizes, delays, ("label", "acceptance"), lanes)
    for time, batch, delay, grow, lane in settings:
        spec = ModelSpec(get_link(link), grow=grow)
        options = {"time": time, "batch_size": batch, "delay": delay, "spec": spec}
        engine = run_engine(stream, [lane], **options).decisions[0]
        rounds = learner_decisions(lane, stream, batch, delay, time=time, grow=grow)
        for r, decision in enumerate(rounds):
            expected = engine[r * batch : (r + 1) * batch]
            np.testing.assert_array_equal(decision.accepted, expected, err_msg=f"{lane} {options}")


def joined(rounds: list[Decision], name: str) -> np.ndarray:
    return np.concatenate([getattr(decision, name) for decision in rounds])

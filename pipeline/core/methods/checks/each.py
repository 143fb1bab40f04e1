"""Each check takes a method and finds fault with it: AssertionError, and what may mend it."""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from pipeline.core.engine import grid, make_learner
from pipeline.core.kernels.draws import fill_draws
from pipeline.core.kernels.jit import compile_bonus
from pipeline.core.links import get_link
from pipeline.core.methods import Method, Setting, get_method
from pipeline.core.methods.baselines import Greedy
from pipeline.core.methods.checks.streams import (
    LINK_NAMES,
    all_bytes,
    cases,
    decisions_of,
    drive,
    joined,
    make_stream,
    run_engine,
    run_learner,
)
from pipeline.core.models.base import Growth, Model, ModelSpec
from pipeline.core.models.glm import GLM

# A bonus with the constants of a theorem is a hundred times larger than one that is tuned: between
# them these alphas make every method of the project both accept and reject.
ALPHAS = (0.004, 0.5)
TIMES = ("rounds", "examples")
Check = Callable[..., None]
CHECKS: list[Check] = []  # what every method owes


def check_method(method: str | Method, alphas: Sequence[float] = ALPHAS) -> None:
    """Raise AssertionError at the first fault of a method, with what may mend it.

    Args:
        method: its name, or the method with parameters that suit a stream of a hundred rows.
        alphas: with which it both accepts and rejects.
    """
    for check in CHECKS:
        check(method, alphas)


def _check(find_fault: Callable[[Method, Sequence[float]], None]) -> Check:
    """Let a check name the method, and say of any error that it is the method's."""

    @functools.wraps(find_fault)
    def check(method: str | Method, alphas: Sequence[float] = ALPHAS) -> None:
        method = get_method(method)
        failed = f"method {method.name!r} fails {find_fault.__name__}: "
        try:
            find_fault(method, alphas)
        except _FaultError as fault:
            raise AssertionError(f"{failed}{fault}") from fault.__cause__
        except Exception as error:
            raise AssertionError(f"{failed}{type(error).__name__}: {error}") from error

    return check


def _owed(find_fault: Callable[[Method, Sequence[float]], None]) -> Check:
    """Let a check be one of those that every method must pass."""
    CHECKS.append(_check(find_fault))
    return CHECKS[-1]


class _FaultError(AssertionError):
    """What a check found, in words; anything else that is raised is an error of the method's."""


def _expect(holds: object, otherwise: str) -> None:
    if not holds:
        raise _FaultError(otherwise)


@_owed
def parameters_are_plain(method: Method, _alphas: Sequence[float]) -> None:
    """Parameters name the run folder, so they are numbers, strings or tuples of them."""
    try:
        hash(method)
        json.dumps(asdict(method))
    except TypeError as error:
        mend = "let dataclass fields be numbers, strings, None, or tuples of them"
        raise _FaultError(f"a parameter is no plain value ({error}): {mend}") from None


@_owed
def bonus_compiles(method: Method, _alphas: Sequence[float]) -> None:
    """The bonus uses what numba can compile to a function of numbers."""
    try:
        compile_bonus(method.bonus)
    except Exception as error:
        raise _FaultError(
            "numba cannot compile the bonus (the error above says why): let it be a function "
            "bonus(t, alpha, score, width, draws) that uses numbers and math only"
        ) from error


@_owed
def bonus_is_a_number(method: Method, alphas: Sequence[float]) -> None:
    """The bonus is never NaN; ±inf is a number, and decides alone."""
    for stream, lane in cases(method, [0.0, *alphas, 4.0]):
        run_learner(lane, stream, 3)  # which refuses NaN, and says what may be the cause


@_check
def bonus_is_never_negative(method: Method, alphas: Sequence[float]) -> None:
    """Not in CHECKS: owed only by a method that claims to accept all that greedy accepts."""
    for stream, lane in cases(method, [0.0, *alphas, 4.0]):
        least = joined(run_learner(lane, stream, 3), "bonus").min()
        _expect(least >= 0.0, f"with alpha = {lane.alpha:g} a bonus is {least:g}")


@_owed
def decides_both_ways(method: Method, alphas: Sequence[float]) -> None:
    """It accepts some rows and rejects some; else the other checks would check nothing."""
    shares = [decisions_of(stream, [lane]).mean() for stream, lane in cases(method, alphas)]
    _expect(
        any(0.0 < share < 1.0 for share in shares),
        f"it accepts all or nothing for alpha in {tuple(alphas)}, which leaves nothing to check: "
        "give alphas on the scale of its bonus, or parameters for a stream of a hundred rows",
    )


@_owed
def rejected_labels_are_never_read(method: Method, alphas: Sequence[float]) -> None:
    """NaN in place of the labels of rejected rows, and of those that come too late."""
    batch, delay = 7, 2
    for stream, lane in cases(method, alphas):
        order = stream.splits[0].stream
        late = np.arange(len(order)) // batch >= -(-len(order) // batch) - delay
        clean = run_engine(stream, [lane], batch_size=batch, delay=delay)
        assert clean.decisions is not None  # they were asked for
        accepted = clean.decisions[0]
        y = stream.y.copy()
        y[order[~accepted | late]] = np.nan
        poisoned = run_engine(stream, [lane], y=y, batch_size=batch, delay=delay)
        streamed = joined(run_learner(lane, replace(stream, y=y), batch, delay), "accepted")
        _expect(
            all_bytes(poisoned) == all_bytes(clean) and np.array_equal(streamed, accepted),
            "labels it has not paid for change its decisions: learn only what fit and update get",
        )


@_owed
def order_of_lanes_changes_nothing(method: Method, alphas: Sequence[float]) -> None:
    """A run decides the same, whatever ran before it."""
    stream = make_stream("logistic", n_splits=2)
    lanes = grid([method, "greedy", "os_noise"], alphas, [stream.cutoff, 0.0], 2)
    order = np.random.default_rng(0).permutation(len(lanes))
    straight = run_engine(stream, lanes, batch_size=5)
    permuted = run_engine(stream, [lanes[i] for i in order], batch_size=5)
    for name in ("loss", "curve", "counts", "group_loss", "decisions"):
        _expect(
            getattr(permuted, name).tobytes() == getattr(straight, name)[order].tobytes(),
            f"{name} depends on what ran before: let make_model return a new model at each call, "
            "and keep what a run learns in that model, not in the method, its class or its module",
        )


@_owed
def threads_change_no_byte(method: Method, alphas: Sequence[float]) -> None:
    """Runs side by side do not meet, and a second run gives the same bytes."""
    for link in ("linear", "logistic"):
        stream = make_stream(link, n_splits=2)
        lanes = grid([method, "greedy"], alphas, [stream.cutoff, 0.0], 2)
        one, two, again = (
            all_bytes(run_engine(stream, lanes, batch_size=5, n_threads=n)) for n in (1, 2, 2)
        )
        _expect(
            one == two == again,
            "runs side by side, or one after the other, give other bytes: keep what a run learns "
            "in its model, and take random numbers from draws only",
        )


@_owed
def only_draws_depend_on_the_seed(method: Method, alphas: Sequence[float]) -> None:
    """The same seed decides the same; another one decides otherwise where there are draws."""
    stream = make_stream()
    lanes = grid([method], alphas, [stream.cutoff], 1)
    first, second, same = (decisions_of(stream, lanes, batch_size=7, seed=k) for k in (0, 1, 0))
    _expect(
        np.array_equal(first, same),
        "the same seed decides otherwise: take random numbers from draws only",
    )
    alike = np.array_equal(first, second)
    decides = "decides alike" if alike else "decides otherwise"
    _expect(
        alike == (method.n_draws == 0),
        f"n_draws = {method.n_draws}, but another seed {decides}: "
        "let n_draws be what the bonus reads; where chance is rare give other alphas",
    )


@dataclass(frozen=True)
class _GreedyOn(Greedy):
    """Greedy with the model of another method."""

    method: Method

    def make_model(self, spec: ModelSpec) -> Model:
        return self.method.make_model(spec)


@_owed
def alpha_zero_is_greedy(method: Method, _alphas: Sequence[float]) -> None:
    """Where there is an alpha to tune, 0 switches the bonus off."""
    if not method.has_alpha:
        return
    for (stream, lane), time in itertools.product(cases(method, [0.0]), TIMES):
        greedy = replace(lane, method=_GreedyOn(method))
        decisions = decisions_of(stream, [lane, greedy], batch_size=3, time=time)
        bonus = joined(run_learner(lane, stream, 3, time=time), "bonus")
        _expect(
            np.array_equal(*decisions) and not bonus.any(),
            "alpha = 0 does not decide as greedy: multiply what the bonus adds by alpha, or set "
            "has_alpha = False",
        )


@_owed
def learner_adds_the_bonus(method: Method, alphas: Sequence[float]) -> None:
    """Decision.bonus is the method's own function at t, alpha, score, width and draws."""
    batch, draws = 5, np.empty(method.n_draws)
    for (stream, lane), time in itertools.product(cases(method, alphas), TIMES):
        X0, y0, X, y = stream.ordered()
        learner = make_learner(lane, stream.link, time=time).fit(X0, y0)
        setting = Setting(learner.spec.link, X.shape[1] + 1, lane.cutoff)
        alpha = method.coefficient(lane.alpha, setting)
        for first in range(0, len(X), batch):
            rows = X[first : first + batch]
            width, decision = learner.width(rows), learner.decide(rows)
            learner.learn(decision.ids, y[first : first + batch][decision.accepted])
            for i, (score, bonus) in enumerate(zip(decision.score, decision.bonus, strict=True)):
                fill_draws(learner.seed, first + i, draws)
                t = first + i + 1 if time == "examples" else first // batch + 1
                by_hand = method.bonus(float(t), alpha, score, width[i], draws)
                _expect(
                    np.isclose(bonus, by_hand, rtol=1e-12, atol=0.0),
                    f"compiled, the bonus is {bonus:g}; in Python it is {by_hand:g}: let bonus and "
                    "coefficient depend on their arguments and the parameters only",
                )


@_owed
def learner_equals_engine(method: Method, alphas: Sequence[float]) -> None:
    """Equal decisions: every link, time unit, batch size, delay and growth of A."""
    growths: tuple[Growth, ...] = ("label", "acceptance")
    quick = type(method.make_model(ModelSpec())) is GLM
    for stream, lane in cases(method, alphas, LINK_NAMES):
        sizes = (1, 7, 50) if quick or stream.link == "linear" else (7, 50)
        for time, size, delay, grow in itertools.product(TIMES, sizes, (0, 2), growths):
            spec = ModelSpec(get_link(stream.link), grow=grow)
            options = {"time": time, "batch_size": size, "delay": delay}
            engine = decisions_of(stream, [lane], spec=spec, **options)[0]
            rounds = run_learner(lane, stream, size, delay, time=time, grow=grow)
            _expect(
                np.array_equal(joined(rounds, "accepted"), engine),
                f"engine and learner differ ({stream.link} link, grow {grow!r}, {options}): plain "
                "GLMs are compiled, so let a model that does more be a class of its own",
            )


@_owed
def saved_model_goes_on(method: Method, alphas: Sequence[float]) -> None:
    """A model that takes up the state of another learns and scores as that one does."""
    for stream, lane in cases(method, alphas):
        X0, y0, X, y = stream.ordered()
        learner = make_learner(lane, stream.link).fit(X0, y0)
        list(drive(learner, X[:45], y[:45], 9))
        model, restored = learner.model, method.make_model(learner.spec)
        state = {name: np.array(array) for name, array in model.state().items()}
        objects = [name for name, array in state.items() if array.dtype.hasobject]
        _expect(not objects, f"state() has values that are no arrays of numbers: {objects}")
        restored.restore(state)
        for one in (model, restored):
            one.update(X[45:], y[45:])
        _expect(
            np.array_equal(model.score(X), restored.score(X))
            and np.array_equal(model.width(X), restored.width(X)),
            "a restored model scores otherwise: let state() return all that learning changes, and "
            "restore() take it up",
        )

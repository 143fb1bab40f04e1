"""The checks can fail: for each of them methods that are broken on purpose."""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest

from pipeline.core.methods import Method, checks
from pipeline.core.methods.baselines import Margin, OsNoise
from pipeline.core.methods.ours import Ours
from pipeline.core.models.base import Model, ModelSpec
from pipeline.core.models.glm import GLM


class SlowGLM(GLM):
    """A GLM that is not compiled, as it is a class of its own."""


def with_model(make: Callable[[ModelSpec], Model], rule: type[Method] = Ours) -> Method:
    """Return a rule with that model."""
    return type("Broken", (rule,), {"name": "broken", "make_model": lambda _, spec: make(spec)})()


def with_bonus(
    bonus: Callable[..., float], rule: type[Method] = Margin, **traits: object
) -> Method:
    """Return a rule with that bonus."""
    return type("Broken", (rule,), {"name": "broken", "bonus": staticmethod(bonus), **traits})()


@dataclass(frozen=True)
class ListOfSteps(Margin):
    """Has a parameter that cannot be hashed."""

    name = "broken"
    steps: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class BytesAsKey(Margin):
    """Has a parameter that JSON does not know."""

    name = "broken"
    key: bytes = b""


def by_hand(t, alpha, score, width, draws):  # noqa: ARG001
    return alpha * float(input("how much? "))


def of_the_width(t, alpha, score, width, draws):  # noqa: ARG001
    return alpha * width


def below_zero(t, alpha, score, width, draws):  # noqa: ARG001
    return -alpha / t


def everything(t, alpha, score, width, draws):  # noqa: ARG001
    return alpha * 1e9


def never_zero(t, alpha, score, width, draws):  # noqa: ARG001
    return alpha + 0.1


class Peeking(SlowGLM):
    """Looks for labels in the memory of its callers."""

    def score(self, X: np.ndarray) -> np.ndarray:
        frame = sys._getframe()
        while "stream" not in frame.f_locals or frame.f_locals["stream"] is None:
            frame = frame.f_back
        return super().score(X) + frame.f_locals["stream"].y.mean()


class Forgetful(SlowGLM):
    """Leaves a number out of its state."""

    def __init__(self, spec: ModelSpec) -> None:
        super().__init__(spec)
        self.n_updates = 0

    def update(self, X: np.ndarray, y: np.ndarray) -> None:
        self.n_updates += 1
        super().update(X, y)

    def score(self, X: np.ndarray) -> np.ndarray:
        return super().score(X) + 0.01 * self.n_updates


class Objects(SlowGLM):
    """Saves an object."""

    def state(self):
        return {**super().state(), "spec": self.spec}


class Doubtful(SlowGLM):
    """Asserts what does not hold."""

    def update(self, X: np.ndarray, y: np.ndarray) -> None:  # noqa: ARG002
        assert y.all(), "a label of 0"


class NoWidth(SlowGLM):
    """Raises an error of its own."""

    def width(self, X: np.ndarray) -> np.ndarray:  # noqa: ARG002
        raise ZeroDivisionError("no width for you")


def counting() -> Method:
    """A model that depends on how many runs there were before."""
    runs = itertools.count()

    class Counting(SlowGLM):
        def fit(self, X: np.ndarray, y: np.ndarray) -> None:
            self.number = next(runs)
            super().fit(X, y)

        def score(self, X: np.ndarray) -> np.ndarray:
            return super().score(X) + 0.1 * (self.number % 5)

    return with_model(Counting)


def patched_glm(spec: ModelSpec) -> Model:
    """A plain GLM but for a function that was put into it: the engine compiles it all the same."""
    model = GLM(spec)
    score = model.score
    model.score = lambda X: score(X) + 0.3
    return model


def moody() -> Method:
    """A coefficient that is another one at each call."""
    calls = itertools.count(1)
    coefficient = lambda _self, alpha, _setting: alpha * next(calls)  # noqa: E731
    return type("Broken", (Ours,), {"name": "broken", "coefficient": coefficient})()


BROKEN: list[tuple[str, Method, str]] = [
    ("parameters_are_plain", ListOfSteps(), "no plain value .*unhashable.*: let dataclass fields"),
    ("parameters_are_plain", BytesAsKey(), "no plain value .*bytes.*: let dataclass fields"),
    ("bonus_compiles", with_bonus(by_hand), "numba cannot compile .* numbers and math only"),
    ("bonus_is_a_number", with_bonus(of_the_width), "is NaN .* set uses_width = True"),
    ("bonus_is_never_negative", with_bonus(below_zero), r"with alpha = 0\.004 a bonus is -0\.004"),
    ("decides_both_ways", with_bonus(everything), "accepts all or nothing .* give alphas"),
    ("rejected_labels_are_never_read", with_model(Peeking), "labels it has not paid for"),
    ("order_of_lanes_changes_nothing", counting(), "depends on what ran before: let make_mo"),
    ("threads_change_no_byte", counting(), "give other bytes: keep what a run learns in"),
    ("only_draws_depend_on_the_seed", counting(), "same seed decides otherwise: take"),
    (
        "only_draws_depend_on_the_seed",
        with_bonus(never_zero, OsNoise),
        "n_draws = 1, .* decides alike",
    ),
    ("alpha_zero_is_greedy", with_bonus(never_zero), "multiply what the bonus adds by alpha"),
    ("learner_adds_the_bonus", moody(), "compiled, the bonus is .*; in Python it is .*: let bonus"),
    ("learner_equals_engine", with_model(patched_glm), "engine and learner differ .linear link"),
    ("saved_model_goes_on", with_model(Forgetful), r"restored model scores otherwise: let state\("),
    ("saved_model_goes_on", with_model(Objects), r"no arrays of numbers: \['spec'\]"),
    ("learner_equals_engine", with_model(Doubtful), "AssertionError: a label of 0"),
    ("saved_model_goes_on", with_model(NoWidth), "ZeroDivisionError: no width for you"),
]


@pytest.mark.parametrize(("check", "method", "says"), BROKEN)
def test_a_broken_method_is_found_and_told_how_to_mend_it(check, method, says) -> None:
    with pytest.raises(AssertionError, match=f"^method 'broken' fails {check}: .*{says}"):
        getattr(checks, check)(method)


def test_every_check_is_seen_to_fail() -> None:
    seen_to_fail = {name for name, *_ in BROKEN}
    every = {check.__name__ for check in checks.CHECKS}
    assert seen_to_fail == every | {"bonus_is_never_negative"}


def test_all_checks_are_run_in_turn_until_one_fails() -> None:
    checks.check_method("ours")
    with pytest.raises(AssertionError, match="fails bonus_is_a_number"):
        checks.check_method(with_bonus(of_the_width))
    with pytest.raises(ValueError, match="unknown method 'our'; did you mean 'ours'"):
        checks.check_method("our")


def test_what_caused_an_error_can_be_read() -> None:
    with pytest.raises(AssertionError) as caught:
        checks.bonus_compiles(with_bonus(by_hand))
    assert "numba" in type(caught.value.__cause__).__module__


def test_alphas_on_another_scale() -> None:
    method = with_bonus(everything)
    checks.check_method(method, alphas=[1e-12, 5e-10])


def test_a_method_without_alpha_owes_no_greedy_at_zero() -> None:
    checks.alpha_zero_is_greedy(with_bonus(never_zero, has_alpha=False))


def test_a_model_of_ones_own_passes() -> None:
    checks.check_method(with_model(SlowGLM))


def test_methods_are_there_without_the_checks_and_the_engine() -> None:
    code = "import sys, pipeline.core.methods; print('pipeline.core.engine' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"

"""Each rule against its formula with numbers worked out by hand, the registry, and the checks."""

from __future__ import annotations

import ast
import math
from pathlib import Path

import numpy as np
import pytest

import pipeline.core
from pipeline.core.engine import grid
from pipeline.core.learner import OneSidedLearner
from pipeline.core.methods import Method, get_method, method_names, register
from pipeline.core.methods.base import REGISTRY
from pipeline.core.methods.checks import ALPHAS, CHECKS, bonus_is_never_negative
from pipeline.core.methods.checks.streams import make_stream, run_engine
from pipeline.core.methods.ours import Ours

CORE = Path(pipeline.core.__file__).parent
SHORT = {"passive": {"horizon": 100}, "passive_cover": {"horizon": 100, "n_patterns": 30}}
TWO_SIDED = {"eps_greedy", "noise"}
THE_SEVEN = ("greedy", "eps_greedy", "os_eps_greedy", "noise", "os_noise", "margin", "ours")


def rule(name: str, t: float, alpha: float, width: float = math.nan, *draws: float) -> float:
    return get_method(name).bonus(t, alpha, 0.3, width, np.array(draws))


# --- formulas -------------------------------------------------------------------------------------


def test_the_methods_of_the_paper_are_there() -> None:
    assert {*THE_SEVEN, "ours_log", "ours_theory"} <= set(method_names())


@pytest.mark.parametrize(
    ("bonus", "by_hand"),
    [
        (rule("greedy", 9, 5.0), 0.0),
        (rule("margin", 1, 0.5), 0.5),
        (rule("margin", 16, 0.5), 0.125),
        (rule("noise", 4, 0.5, math.nan, 0.9), 0.1),
        (rule("noise", 4, 0.5, math.nan, 0.0), -0.125),
        (rule("noise", 4, 0.5, math.nan, 0.5), 0.0),
        (rule("os_noise", 4, 0.5, math.nan, 0.9), 0.225),
        (rule("os_noise", 4, 0.5, math.nan, 0.0), 0.0),
        (rule("ours", 7, 0.5, 0.2), 0.1),
        (rule("ours", 1, 0.5, 0.2), 0.1),
        (rule("ours_log", math.exp(4), 0.5, 0.2), 0.2),
        (rule("ours_log", 1, 0.5, 0.2), 0.0),
        (rule("os_eps_greedy", 4, 0.5, math.nan, 0.2499), math.inf),
        (rule("os_eps_greedy", 4, 0.5, math.nan, 0.25), 0.0),
        (rule("eps_greedy", 4, 0.5, math.nan, 0.2499, 0.4999), math.inf),
        (rule("eps_greedy", 4, 0.5, math.nan, 0.2499, 0.5), -math.inf),
        (rule("eps_greedy", 4, 0.5, math.nan, 0.25, 0.1), 0.0),
    ],
)
def test_bonus_by_hand(bonus: float, by_hand: float) -> None:
    assert bonus == pytest.approx(by_hand, rel=1e-15, abs=1e-17)


def test_what_has_no_alpha() -> None:
    without = [name for name in method_names() if not get_method(name).has_alpha]
    assert without == ["erm", "greedy", "passive", "passive_cover"]
    assert len(grid(["greedy", "margin"], [0.1, 0.2, 0.3], [0.0], 1)) == 1 + 3


def test_only_algorithms_1_and_3_accept_ties() -> None:
    ties = [name for name in method_names() if get_method(name).accepts_ties]
    assert ties == ["passive", "passive_cover", "sgd"]


def decide_on_nothing(name: str, alpha: float, n: int = 40_000) -> np.ndarray:
    """Bonuses of four rounds of rows that are all 0: only chance can accept them."""
    learner = OneSidedLearner(method=name, alpha=alpha, cutoff=0.1, fit_intercept=False, seed=3)
    learner.fit(np.ones((1, 1)), np.zeros(1))
    rounds = [learner.decide(np.zeros((n, 1))) for _ in range(4)]
    for decision in rounds:
        np.testing.assert_array_equal(decision.accepted, decision.bonus > 0.1)
    return np.array([decision.bonus for decision in rounds])


@pytest.mark.parametrize("name", ["eps_greedy", "os_eps_greedy"])
def test_chance_decides_with_probability_alpha_over_sqrt_t(name: str) -> None:
    bonus = decide_on_nothing(name, 0.6)
    expected = 0.6 / np.sqrt([1, 2, 3, 4])
    spread = np.sqrt(expected * (1 - expected) / bonus.shape[1])
    assert (np.abs(np.isinf(bonus).mean(axis=1) - expected) < 4 * spread).all()
    accepted = (bonus == math.inf).sum() / np.isinf(bonus).sum()
    assert accepted == (1.0 if name == "os_eps_greedy" else pytest.approx(0.5, abs=0.01))


def test_chance_decides_always_once_alpha_reaches_sqrt_t() -> None:
    for name in ("eps_greedy", "os_eps_greedy"):
        assert np.isinf(decide_on_nothing(name, 2.0, n=5000)).all()
        assert np.isinf(decide_on_nothing(name, 1.99, n=5000)).all(axis=1).tolist() == [
            *(True, True, True),
            False,
        ]


@pytest.mark.parametrize(("name", "low", "high"), [("noise", -0.5, 0.5), ("os_noise", 0.0, 1.0)])
def test_noise_fills_its_interval(name: str, low: float, high: float) -> None:
    scaled = decide_on_nothing(name, 0.6) * np.sqrt([[1], [2], [3], [4]]) / 0.6
    assert low <= scaled.min() < low + 0.001
    assert high - 0.001 < scaled.max() < high
    assert scaled.mean() == pytest.approx((low + high) / 2, abs=0.005)


# --- registry -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "meant"), [("our", "ours"), ("os_epsgreedy", "os_eps_greedy"), ("magrin", "margin")]
)
def test_near_miss_is_named(wrong: str, meant: str) -> None:
    with pytest.raises(ValueError, match=f"unknown method '{wrong}'; did you mean '{meant}'"):
        get_method(wrong)


def test_far_miss_lists_what_is_known() -> None:
    with pytest.raises(ValueError, match="unknown method 'zzzz'; known: eps_greedy, erm, greedy, "):
        get_method("zzzz")


def test_a_method_passes_through() -> None:
    method = Ours()
    assert get_method(method) is method


def test_a_name_belongs_to_one_module() -> None:
    class Impostor(Ours):
        name = "ours"

    with pytest.raises(ValueError, match=r"'ours' is defined in pipeline\.core\.methods\.ours"):
        register(Impostor)
    assert REGISTRY["ours"] is Ours
    assert register(Ours) is Ours  # its own module may say it again


def test_engine_names_no_method() -> None:
    for path in (CORE / "engine.py", CORE / "kernels" / "lane.py"):
        words = {
            node.value for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }  # fmt: skip
        assert not words & set(method_names())


# --- generic checks -------------------------------------------------------------------------------


def for_a_short_stream(name: str) -> Method:
    """Return the method with defaults, but for a horizon that the streams of the checks reach."""
    return type(get_method(name))(**SHORT.get(name, {}))


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", method_names())
def test_every_method(name: str, check) -> None:
    check(for_a_short_stream(name))


@pytest.mark.parametrize("name", sorted(set(method_names()) - TWO_SIDED))
def test_one_sided_methods_accept_all_that_greedy_accepts(name: str) -> None:
    bonus_is_never_negative(for_a_short_stream(name))


@pytest.mark.parametrize("name", method_names())
def test_loss_is_never_negative(name: str) -> None:
    stream = make_stream("logistic", n_splits=2)
    lanes = grid([for_a_short_stream(name)], ALPHAS, [stream.cutoff], 2)
    result = run_engine(stream, lanes, batch_size=4, group=np.arange(len(stream.y)) % 3)
    assert result.loss.min() >= 0.0
    assert result.group_loss.min() >= 0.0
    assert (np.diff(result.curve, axis=1) >= 0.0).all()
    np.testing.assert_array_equal(result.loss > 0.0, result.missed + result.wasted > 0)

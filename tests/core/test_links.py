"""Links against scipy, and the promise that a fourth link is one small class."""

import math

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import norm

from pipeline.core.kernels.jit import compile_link
from pipeline.core.links import LINKS, Linear, Link, Logistic, Probit, get_link
from pipeline.core.models.base import ModelSpec
from pipeline.core.models.glm import GLM
from tests.core.reference import (
    Curve,
    assert_scores,
    best_fit,
    design,
    ridge_penalty,
    scale_free_cond,
)

GRID = np.concatenate([np.linspace(-38, 38, 1001), [-700.0, -300.0, 300.0, 700.0]])
MEANS = {"linear": lambda z: z, "logistic": expit, "probit": norm.cdf}
SLOPES = {
    "linear": np.ones_like,
    "logistic": lambda z: expit(z) * expit(-z),
    "probit": norm.pdf,
}
every_link = pytest.mark.parametrize("link", LINKS.values(), ids=LINKS)


class Cauchit(Link):
    """μ(z) = ½ + arctan(z)/π, in the words a user would write it."""

    name = "cauchit"
    lipschitz = 1.0 / math.pi

    @staticmethod
    def mean(z: float) -> float:
        return 0.5 + math.atan(z) / math.pi

    @staticmethod
    def slope(z: float) -> float:
        return 1.0 / (math.pi * (1.0 + z * z))

    @staticmethod
    def inverse(mean: float) -> float:
        return math.tan(math.pi * (mean - 0.5))


@every_link
def test_mean_is_that_of_scipy(link: Link) -> None:
    found = [link.mean(z) for z in GRID]
    np.testing.assert_allclose(found, MEANS[link.name](GRID), rtol=1e-12, atol=1e-300)


@every_link
def test_slope_is_that_of_scipy(link: Link) -> None:
    found = [link.slope(z) for z in GRID]
    np.testing.assert_allclose(found, SLOPES[link.name](GRID), rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("link", [*LINKS.values(), Cauchit()], ids=lambda link: link.name)
def test_slope_is_the_derivative_of_the_mean(link: Link) -> None:
    z, h = np.linspace(-8, 8, 401), 1e-5
    difference = [(link.mean(v + h) - link.mean(v - h)) / (2 * h) for v in z]
    np.testing.assert_allclose([link.slope(v) for v in z], difference, rtol=1e-8, atol=1e-10)


@every_link
@settings(deadline=None)
@given(z=st.floats(-30, 30))
def test_inverse_undoes_the_mean(link: Link, z: float) -> None:
    mean = link.mean(z)
    if 0.0 < mean < 1.0 or link.name == "linear":
        rounding = 4e-16 * (1.0 + abs(z) + mean / link.slope(z))
        assert link.inverse(mean) == pytest.approx(z, rel=1e-13, abs=rounding)


@every_link
def test_lipschitz_constant_is_the_largest_slope(link: Link) -> None:
    slopes = [link.slope(z) for z in np.linspace(-10, 10, 2001)]  # 0 included
    assert max(slopes) == pytest.approx(link.lipschitz, rel=1e-15)


@pytest.mark.parametrize("link", [Logistic(), Probit()], ids=lambda link: link.name)
@pytest.mark.parametrize("z", [800.0, 1e4, 1e300])
def test_tails_do_not_overflow(link: Link, z: float) -> None:
    assert link.mean(z) == 1.0
    assert 0.0 <= link.mean(-z) < 1e-300
    assert 0.0 <= link.slope(z) < 1e-300
    assert link.slope(-z) == link.slope(z)


@numba.njit
def call(pointer, z, out):
    pointer(z, out, z.shape[0])


@pytest.mark.parametrize("link", [*LINKS.values(), Cauchit()], ids=lambda link: link.name)
@pytest.mark.parametrize("part", ["mean", "slope"])
def test_compiled_link_is_the_plain_one(link: Link, part: str) -> None:
    z = np.concatenate([GRID, [-800.0, 0.0, 800.0]])
    plain, out = getattr(link, part), np.empty(len(z))
    call(compile_link(plain), z, out)
    np.testing.assert_allclose(out, [plain(v) for v in z], rtol=1e-13, atol=0)


def test_compiled_link_fills_only_what_it_is_asked_for() -> None:
    @numba.njit
    def call_two(pointer, z, out):
        pointer(z, out, 2)

    out = np.full(4, -1.0)
    call_two(compile_link(Logistic.mean), np.zeros(4), out)
    np.testing.assert_array_equal(out, [0.5, 0.5, -1.0, -1.0])


def test_links_are_found_by_name() -> None:
    assert isinstance(get_link("probit"), Probit)
    mine = Cauchit()
    assert get_link(mine) is mine
    with pytest.raises(ValueError, match=r"unknown link 'logit'.*did you mean 'logistic'"):
        get_link("logit")
    assert Linear.binary is False
    assert Logistic.binary is Probit.binary is True


def test_fourth_link_is_one_small_class() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 3))
    y = (rng.random(300) < 0.5 + np.arctan(2 * X[:, 0]) / np.pi).astype(float)
    model = GLM(ModelSpec(link=Cauchit(), l2=1.0))
    model.fit(X[:100], y[:100])
    model.update(X[100:], y[100:])
    curve = Curve(
        lambda z: 0.5 + np.arctan(z) / np.pi,
        lambda z: 1 / (np.pi * (1 + z**2)),
        lambda z: z / 2 + (z * np.arctan(z) - np.log1p(z**2) / 2) / np.pi,
    )
    D = design(X, intercept=True)
    beta, H = best_fit(D, y, ridge_penalty(3, 1.0, True, True), curve)
    assert_scores(model.score(X), curve.mean(D @ beta), scale_free_cond(H))

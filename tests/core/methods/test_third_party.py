"""Methods from outside: one file with a rule of its own, and rules that bring their own model."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

import pipeline.core
from pipeline.core.engine import Lane, Split, grid, simulate
from pipeline.core.learner import OneSidedLearner
from pipeline.core.methods import Method, get_method, method_names
from pipeline.core.methods.base import REGISTRY
from pipeline.core.methods.baselines import Greedy
from pipeline.core.methods.checks import check_method
from pipeline.core.methods.checks.streams import (
    LINK_NAMES,
    joined,
    make_stream,
    run_engine,
    run_learner,
)
from pipeline.core.methods.ours import Ours
from pipeline.core.models.base import Model, ModelSpec
from pipeline.core.models.glm import GLM

CORE = Path(pipeline.core.__file__).parent
THIRD_PARTY = Path(__file__).with_name("third_party.py")


@pytest.fixture(scope="module")
def third_party(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Method]:
    """A method from a file outside the project, forgotten afterwards."""
    path = tmp_path_factory.mktemp("elsewhere") / "impulsive.py"
    shutil.copy(THIRD_PARTY, path)
    spec = importlib.util.spec_from_file_location("impulsive", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["impulsive"] = module
    try:
        spec.loader.exec_module(module)
        yield get_method("impulsive")
    finally:
        del sys.modules["impulsive"], REGISTRY["impulsive"]


def test_third_party_passes_the_checks(third_party: Method) -> None:
    assert third_party.name in method_names()
    check_method(third_party)
    check_method("impulsive")


def test_parameter_of_a_method_matters(third_party: Method) -> None:
    stream = make_stream()
    slow, fast = (replace(third_party, decay=decay) for decay in (0.01, 3.0))
    lanes = [Lane(method, 0.5, stream.cutoff, 0) for method in (slow, fast, slow)]
    first, second, third = run_engine(stream, lanes).decisions
    assert first.sum() > second.sum()
    np.testing.assert_array_equal(first, third)
    for lane, expected in zip(lanes, (first, second, third), strict=True):
        rounds = run_learner(lane, stream, 1)
        np.testing.assert_array_equal(joined(rounds, "accepted"), expected)


def test_a_file_in_the_folder_is_enough(tmp_path: Path) -> None:
    shutil.copytree(CORE, tmp_path / "pipeline" / "core", ignore=shutil.ignore_patterns("*.nb*"))
    (tmp_path / "pipeline" / "__init__.py").touch()  # a package of its own, not a part of ours
    shutil.copy(THIRD_PARTY, tmp_path / "pipeline" / "core" / "methods" / "impulsive.py")
    code = "from pipeline.core.methods import *; print(get_method('impulsive'), method_names())"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    known = sorted({*method_names(), "impulsive"})
    assert done.stdout == f"Impulsive(decay=0.25) {known}\n"


class Truth(Model):
    """A model that knows β*, has no GLM inside and never learns."""

    def __init__(self, beta: np.ndarray) -> None:
        self.beta = beta

    def fit(self, X, y):
        self.n_learned = 0
        self.update(X, y)

    def score(self, X):
        return X @ self.beta

    def width(self, X):
        return np.zeros(len(X))

    def update(self, X, y):
        assert np.isfinite(y).all()
        self.n_learned += len(X)

    def state(self):
        return {"n_learned": np.array(self.n_learned)}

    def restore(self, state):
        self.n_learned = int(state["n_learned"])


@dataclass(frozen=True)
class Oracle(Greedy):
    """Accept what is truly above the cutoff."""

    name = "oracle"
    beta: tuple[float, ...] = ()

    def make_model(self, spec: ModelSpec) -> Model:  # noqa: ARG002
        return Truth(np.array(self.beta))


@pytest.fixture
def oracle() -> tuple[Oracle, np.ndarray, np.ndarray]:
    X = np.random.default_rng(5).normal(size=(60, 12))
    beta = np.linspace(-1.0, 1.0, 12)
    return Oracle(tuple(beta)), X, X @ beta


@pytest.mark.parametrize(("batch", "delay"), [(1, 0), (7, 0), (7, 2)])
def test_oracle_loses_nothing(oracle, batch: int, delay: int) -> None:
    method, X, truth = oracle
    splits = [Split(np.arange(30), np.arange(30, 60))]
    lanes = grid([method, "greedy"], [0.5], [-0.5, 0.0, 0.5], 1)
    result = simulate(
        X, np.sign(truth), truth=truth, splits=splits, lanes=lanes, batch_size=batch, delay=delay
    )
    assert result.loss[:3].tolist() == [0.0, 0.0, 0.0]
    assert not result.missed[:3].any()
    assert not result.wasted[:3].any()
    assert result.accepted[:3].tolist() == [(truth[30:] > c).sum() for c in (-0.5, 0.0, 0.5)]
    assert (result.loss[3:] > 0.0).all()


def test_a_model_of_ones_own_needs_no_glm(oracle) -> None:
    """Fewer rows than columns and no ridge: a GLM has no fit, the oracle has no GLM."""
    method, X, truth = oracle
    splits, lanes = [Split(np.arange(5), np.arange(5, 60))], grid([method], [], [0.0], 1)
    spec = ModelSpec(l2=0.0)
    assert simulate(X, truth, truth=truth, splits=splits, lanes=lanes, spec=spec).loss == [0.0]


def test_learner_says_what_a_model_lacks(oracle) -> None:
    method, X, truth = oracle
    learner = OneSidedLearner(method=method, cutoff=0.0).fit(X, truth)
    np.testing.assert_array_equal(learner.decide(X).accepted, truth > 0.0)
    with pytest.raises(AttributeError, match="model of method 'oracle' has no coef_"):
        _ = learner.coef_


@dataclass(frozen=True)
class Stiff(Ours):
    """Ours with a ridge a hundred times as strong."""

    name = "stiff"

    def make_model(self, spec: ModelSpec) -> Model:
        return GLM(replace(spec, l2=100.0 * spec.l2))


class SlowGLM(GLM):
    """A GLM that the engine must run through the learner."""

    compiled = False


def compiled_names() -> list[str]:
    """The methods that score with the plain GLM."""
    return [n for n in method_names() if type(get_method(n).make_model(ModelSpec())) is GLM]


@pytest.mark.parametrize("name", compiled_names())
def test_engine_decides_alike_with_and_without_its_kernels(name: str) -> None:
    method = type(get_method(name))
    slow = type("Slow", (method,), {"make_model": lambda _self, spec: SlowGLM(spec)})
    stream = make_stream("logistic", n_splits=2)
    lanes = grid([method(), slow()], [0.5], [stream.cutoff], 2)
    assert type(run_engine(stream, lanes).lanes[2].method.make_model(ModelSpec())) is not GLM
    for options in ({}, {"draws": "shared", "seed": 3}, {"delay": 2, "time": "examples"}):
        fast, fast_too, slow_, slow_too = run_engine(
            stream, lanes, batch_size=6, **options
        ).decisions
        np.testing.assert_array_equal(fast, slow_)
        np.testing.assert_array_equal(fast_too, slow_too)


class HopefulGLM(GLM):
    """A GLM that scores everything a little higher."""

    def score(self, X: np.ndarray) -> np.ndarray:
        return super().score(X) + 0.2


@dataclass(frozen=True)
class Hopeful(Ours):
    """Ours with a model that is a GLM but for one thing."""

    name = "hopeful"

    def make_model(self, spec: ModelSpec) -> Model:
        return HopefulGLM(spec)


@pytest.mark.parametrize("link", LINK_NAMES)
@pytest.mark.parametrize("method", [Stiff(), Hopeful()])
def test_engine_runs_the_model_the_method_asks_for(method: Method, link: str) -> None:
    stream = make_stream(link)
    lane = Lane(method, 0.5, stream.cutoff, 0)
    plain = run_engine(stream, [replace(lane, method=Ours())]).decisions[0]
    rounds = run_learner(lane, stream, 1)
    engine = run_engine(stream, [lane]).decisions[0]
    assert (engine != plain).any()
    np.testing.assert_array_equal(joined(rounds, "accepted"), engine)

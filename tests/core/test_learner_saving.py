"""A restored learner continues as the one that was saved, here and in another process."""

from __future__ import annotations

import itertools
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import pipeline
from pipeline.core.learner import OneSidedLearner
from pipeline.core.links import Logistic
from pipeline.core.methods import Method, method_names
from pipeline.core.methods.base import REGISTRY
from pipeline.core.methods.checks.streams import LINK_NAMES, drive, make_stream
from pipeline.core.methods.ours import Ours
from pipeline.core.methods.ours_theory import OursTheory
from tests.core.used_learner import used_learner

PROJECT = Path(pipeline.__path__[0]).parent


def continued(learner: OneSidedLearner) -> bytes:
    """Everything a learner decides from here on, labels that waited included."""
    _, _, X, y = make_stream(learner.spec.link.name).ordered()
    said = [learner.predict(X).tobytes(), learner.width(X).tobytes()]
    waiting = learner.waiting_ids
    learner.learn(waiting[::2], np.ones(len(waiting[::2])))
    learner.forget(waiting[1:2])
    said += [learner.waiting_ids.tobytes()]
    for d in drive(learner, X[45:], y[45:], 6, delay=1):
        said += [a.tobytes() for a in (d.accepted, d.ids, d.score, d.bonus)]
    said += [learner.predict(X).tobytes(), learner.width(X).tobytes(), learner.coef_.tobytes()]
    return b"".join(said)


@pytest.mark.parametrize("link", LINK_NAMES)
@pytest.mark.parametrize("name", method_names())
def test_restored_learner_continues_with_the_very_same_bytes(name, link, tmp_path) -> None:
    for grow, time in itertools.product(("label", "acceptance"), ("rounds", "examples")):
        learner = used_learner(link, name, grow=grow, time=time, score="contrast")
        learner.save(tmp_path / "learner")
        restored = OneSidedLearner.load(tmp_path / "learner")
        assert restored.waiting_ids.tolist() == learner.waiting_ids.tolist() != []
        restored.save(tmp_path / "again")
        assert (tmp_path / "again").read_bytes() == (tmp_path / "learner").read_bytes()
        assert continued(restored) == continued(learner)
        for name_ in ("n_rounds_", "n_seen_", "intercept_", "cutoff", "alpha", "seed", "time"):
            assert getattr(restored, name_) == getattr(learner, name_)
        assert vars(restored.spec) | {"link": link} == vars(learner.spec) | {"link": link}


@pytest.mark.parametrize("options", [{"fit_intercept": False}, {"penalize_intercept": False}])
def test_settings_of_the_model_are_restored(options: dict, tmp_path: Path) -> None:
    learner = used_learner(l2=0.3, **options)
    learner.save(tmp_path / "learner")
    assert continued(OneSidedLearner.load(tmp_path / "learner")) == continued(learner)


def test_parameters_of_a_method_are_restored(tmp_path: Path) -> None:
    method = OursTheory(horizon=50, feature_bound=3.0, coef_bound=0.5)
    learner = used_learner("linear", method, alpha=0.001)
    learner.save(tmp_path / "learner")
    restored = OneSidedLearner.load(tmp_path / "learner")
    assert restored.method == method
    assert np.linalg.norm([*learner.coef_, learner.intercept_]) == pytest.approx(0.5)
    assert continued(restored) == continued(learner)


@dataclass(frozen=True)
class Stepwise(Method):
    """Add alpha times the step of the round, the last one for ever."""

    name = "stepwise"
    steps: tuple[float, ...] = (1.0, 0.5)

    @property
    def bonus(self):
        steps = self.steps

        def bonus(t, alpha, score, width, draws):  # noqa: ARG001
            return alpha * steps[min(int(t), len(steps)) - 1]

        return bonus


def test_parameters_may_be_tuples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(REGISTRY, "stepwise", Stepwise)
    learner = used_learner("linear", Stepwise(steps=(0.1, 0.2, 0.3)))
    learner.save(tmp_path / "learner")
    restored = OneSidedLearner.load(tmp_path / "learner")
    assert restored.method == learner.method
    assert continued(restored) == continued(learner)


def test_numbers_of_numpy_are_numbers(tmp_path: Path) -> None:
    method = OursTheory(horizon=np.int64(50), coef_bound=np.float32(2.0))
    learner = used_learner("linear", method, l2=np.float32(0.5), fit_intercept=np.bool_(True))
    learner.save(tmp_path / "learner")
    assert continued(OneSidedLearner.load(tmp_path / "learner")) == continued(learner)


@dataclass(frozen=True)
class Stranger(Ours):
    """A method that nobody registered."""

    name = "stranger"


class Unnamed(Logistic):
    """A link that only its author knows."""

    name = "unnamed"


@pytest.mark.parametrize("options", [{"method": Stranger()}, {"link": Unnamed()}])
def test_what_cannot_be_found_again_is_not_saved(options: dict, tmp_path: Path) -> None:
    """Better an error now than a file that no process can read."""
    X0, y0, _, _ = make_stream("logistic").ordered()
    learner = OneSidedLearner(**{"link": "logistic", **options}).fit(X0, y0)
    with pytest.raises(ValueError, match=r"stranger|unnamed"):
        learner.save(tmp_path / "learner")
    assert not (tmp_path / "learner").exists()


CONTINUE = """
import sys
from pathlib import Path
from pipeline.core.learner import OneSidedLearner
from tests.core.test_learner_saving import continued
for path in map(Path, sys.argv[1:]):
    learner = OneSidedLearner.load(path)
    path.with_suffix(".said").write_bytes(continued(learner))
    learner.save(path.with_suffix(".end"))
"""


def test_a_new_process_continues_with_the_very_same_bytes(tmp_path: Path) -> None:
    learners = {
        tmp_path / f"{link}-{method}.npz": used_learner(link, method, grow=grow)
        for link, method, grow in [
            ("linear", "ours", "label"),
            ("logistic", "eps_greedy", "label"),
            ("probit", "ours_log", "acceptance"),
            ("logistic", "ours_theory", "label"),
        ]
    }
    for path, learner in learners.items():
        learner.save(path)
    subprocess.run([sys.executable, "-c", CONTINUE, *map(str, learners)], cwd=PROJECT, check=True)
    for path, learner in learners.items():
        assert path.with_suffix(".said").read_bytes() == continued(learner)
        learner.save(tmp_path / "end")
        assert path.with_suffix(".end").read_bytes() == (tmp_path / "end").read_bytes()


@pytest.mark.parametrize("link", ["linear", "logistic"])
@pytest.mark.parametrize("grow", ["label", "acceptance"])
def test_the_same_history_is_the_same_file(link: str, grow: str, tmp_path: Path) -> None:
    """What memory held before must not reach the file."""
    files = []
    for garbage in (1.5, -7.25):
        litter = [np.full(size, garbage) for size in range(1, 300) for _ in range(8)]
        del litter
        learner = used_learner(link, "ours", grow=grow)
        learner.forget(learner.waiting_ids[:1])
        learner.save(tmp_path / "learner")
        files.append((tmp_path / "learner").read_bytes())
    assert files[0] == files[1]


def test_method_that_is_not_there_any_more(tmp_path: Path, monkeypatch) -> None:
    used_learner(method="margin").save(tmp_path / "learner")
    monkeypatch.delitem(REGISTRY, "margin")
    with pytest.raises(ValueError, match="margin"):
        OneSidedLearner.load(tmp_path / "learner")

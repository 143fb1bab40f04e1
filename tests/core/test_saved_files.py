"""Files of learners: those of version 1 go on, altered ones never reach a kernel unchecked."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pytest

from pipeline.core import storage
from pipeline.core.learner import OneSidedLearner
from pipeline.core.methods.checks.streams import make_stream
from tests.core.used_learner import used_learner

# Made by the last commit that wrote version 1, a7854f8, with what the learners decided after that.
SAVED = Path(__file__).parent / "saved"
ALTERED = 250  # files a kind of learner
KINDS = {
    "linear": {"link": "linear", "method": "ours"},
    "logistic": {"link": "logistic", "method": "os_noise"},
    "acceptance": {"link": "probit", "method": "ours_log", "grow": "acceptance"},
    "projected": {"link": "logistic", "method": "ours_theory"},
    "passive": {"link": "linear", "method": "passive"},
    "erm": {"link": "linear", "method": "erm"},
    "sgd": {"link": "logistic", "method": "sgd"},
}


@pytest.mark.parametrize("file", sorted(SAVED.glob("*.npz")), ids=lambda file: file.stem)
def test_files_of_version_1_go_on(file: Path) -> None:
    rng = np.random.default_rng(7)
    X = rng.normal(size=(90, 3))
    y = (X[:, 0] + rng.normal(size=90) > 0).astype(float)
    learner = OneSidedLearner.load(file)
    rounds = json.loads((SAVED / "version1.json").read_text())[file.stem]
    for first, (score, bonus, accepted, ids) in zip(range(60, 90, 5), rounds, strict=True):
        decision = learner.decide(X[first : first + 5])
        np.testing.assert_allclose(decision.score, score, rtol=1e-9)
        np.testing.assert_allclose(decision.bonus, bonus, rtol=1e-9)
        assert (decision.accepted.tolist(), decision.ids.tolist()) == (accepted, ids)
        learner.learn(decision.ids, y[first : first + 5][decision.accepted])


def test_what_was_altered_is_seen(tmp_path: Path) -> None:
    used_learner().save(tmp_path / "learner")
    with np.load(tmp_path / "learner") as file:
        arrays = {name: file[name] for name in file.files}
    arrays["model/learned.kept"][7] += 1e-9
    np.savez(tmp_path / "altered.npz", **arrays)
    with pytest.raises(ValueError, match="altered or damaged"):
        OneSidedLearner.load(tmp_path / "altered.npz")


def altered(array: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return an array with one thing wrong, if it is wrong at all."""
    kinds = [*range(4)] if array.size else [2, 3]
    match rng.choice(kinds):
        case 0:
            values = [np.nan, np.inf, -np.inf, -1.0, 0.0, 1e300, -1e300, 1e-300]
            if array.dtype.kind == "i":
                values = [-1, 2**62, -(2**62), 0, 1, 7, 8, 9, 64, 1000]
            if array.dtype.kind not in "fi":
                return array
            changed = array.copy().reshape(-1)
            changed[rng.integers(changed.size, size=rng.integers(1, 4))] = rng.choice(values)
            return changed.reshape(array.shape)
        case 1:
            flat = array.reshape(-1)
            return flat[: rng.integers(flat.size + 1)]
        case 2:
            return np.concatenate([array.reshape(-1), np.zeros(rng.integers(1, 9), array.dtype)])
        case _:
            return array.astype(rng.choice(["float32", "int32", "complex128", "U5"]))


@pytest.mark.parametrize("kind", KINDS)
def test_altered_files_are_refused_or_work(kind: str, tmp_path: Path) -> None:
    """Their digest is right, so that whatever they hold goes on to be checked."""
    path, rng = tmp_path / "learner", np.random.default_rng(len(kind))
    options = dict(KINDS[kind])
    used_learner(**options).save(path)
    settings, arrays = storage.read(path)
    X = make_stream(options["link"]).X[:4]
    refused = 0
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for _ in range(ALTERED):
            name = rng.choice(sorted(arrays))
            storage.write(path, settings, {**arrays, name: altered(arrays[name], rng)})
            try:
                learner = OneSidedLearner.load(path)
            except ValueError:
                refused += 1
                continue
            try:
                decision = learner.decide(X)
                learner.learn(decision.ids, np.ones(len(decision.ids)))
            except (ValueError, np.linalg.LinAlgError):
                continue  # another learner than was saved, but nothing that harms
    assert refused > ALTERED // 4


@pytest.mark.parametrize(
    ("counter", "value"), [("n_rounds_", -1), ("n_seen_", 0.5), ("_next_id", 0), ("_n_features", 2)]
)
def test_counters_that_cannot_be_are_refused(counter: str, value: float, tmp_path: Path) -> None:
    path = tmp_path / "learner"
    used_learner().save(path)
    settings, arrays = storage.read(path)
    settings["counters"][counter] = value
    storage.write(path, settings, arrays)
    with pytest.raises(ValueError, match="is not a saved learner"):
        OneSidedLearner.load(path)

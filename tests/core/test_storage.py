"""The file of a learner: plain arrays, whole or not at all, and refused when it is not one."""

from __future__ import annotations

import io
import json
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest

from pipeline.core import storage
from pipeline.core.learner import OneSidedLearner
from pipeline.core.methods.checks.streams import make_stream
from tests.core.used_learner import used_learner


def test_file_holds_plain_arrays(tmp_path: Path) -> None:
    used_learner().save(tmp_path / "learner.npz")
    with np.load(tmp_path / "learner.npz", allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    assert {"settings", "waiting_ids", "waiting_rows"} <= set(arrays)
    assert not any(array.dtype.hasobject for array in arrays.values())
    assert json.loads(str(arrays["settings"]))["format"] == storage.FORMAT
    with zipfile.ZipFile(tmp_path / "learner.npz") as file:
        for name in file.namelist():
            assert file.read(name).startswith(b"\x93NUMPY")
            with pytest.raises((pickle.UnpicklingError, EOFError, ValueError, KeyError)):
                pickle.loads(file.read(name))


def test_pickle_is_never_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_args, **_options):
        raise AssertionError("pickle")

    for name in ("dump", "dumps", "load", "loads", "Pickler", "Unpickler"):
        monkeypatch.setattr(pickle, name, refuse)
    used_learner().save(tmp_path / "learner")
    OneSidedLearner.load(tmp_path / "learner")
    with pytest.raises(ValueError, match=r"[Oo]bject"):
        storage.write(tmp_path / "other", {}, {"array": np.array([{}], dtype=object)})


def test_path_is_used_as_it_is(tmp_path: Path) -> None:
    learner = used_learner()
    for path in (tmp_path / "learner", str(tmp_path / "learner.model")):
        learner.save(path)
        assert OneSidedLearner.load(path).n_seen_ == 45
    assert sorted(p.name for p in tmp_path.iterdir()) == ["learner", "learner.model"]


def test_failing_write_leaves_the_old_file(tmp_path: Path, monkeypatch) -> None:
    learner = used_learner()
    path = tmp_path / "learner"
    learner.save(path)
    old = path.read_bytes()
    learner.decide(make_stream("logistic").X)
    with monkeypatch.context() as patch:
        state = {"large": np.ones(10_000), "no numbers": np.array([{}], dtype=object)}
        patch.setattr(learner.model, "state", lambda: state)
        with pytest.raises(ValueError, match=r"[Oo]bject"):
            learner.save(path)
    assert path.read_bytes() == old
    assert [p.name for p in tmp_path.iterdir()] == ["learner"]
    learner.save(path)
    assert path.read_bytes() != old


# --- files that are none --------------------------------------------------------------------------


def npz(**arrays) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def npy(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


def settings(value: object) -> np.ndarray:
    return np.array(json.dumps(value))


@pytest.mark.parametrize(
    "content",
    {
        "empty": b"",
        "text": b"hello\n",
        "pickle": pickle.dumps({"a": 1}),
        "array": npy(np.ones(3)),
        "objects": npy(np.array([{}], dtype=object)),
        "no settings": npz(a=np.ones(3)),
        "objects inside": npz(settings=np.array([{}], dtype=object)),
        "not json": npz(settings=np.array("{")),
        "not a mapping": npz(settings=settings([1])),
        "a number": npz(settings=settings(1)),
        "no format": npz(settings=settings({})),
        "another format": npz(settings=settings({"format": "onesided-learner-0"})),
        "nothing but the format": npz(settings=settings({"format": storage.FORMAT})),
    }.items(),
    ids=lambda item: item[0],
)
def test_foreign_file(content: tuple[str, bytes], tmp_path: Path) -> None:
    path = tmp_path / "foreign"
    path.write_bytes(content[1])
    with pytest.raises(ValueError, match="foreign"):
        OneSidedLearner.load(path)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        OneSidedLearner.load(tmp_path / "nowhere")


def test_file_that_lost_its_end(tmp_path: Path) -> None:
    used_learner().save(tmp_path / "learner")
    whole = (tmp_path / "learner").read_bytes()
    for length in (*range(0, 40, 7), *np.linspace(40, len(whole) - 1, 60).astype(int)):
        (tmp_path / "cut").write_bytes(whole[:length])
        with pytest.raises(ValueError, match="cut is not a saved learner"):
            OneSidedLearner.load(tmp_path / "cut")


def test_file_with_a_wrong_bit(tmp_path: Path) -> None:
    """Either the file is refused, or the bit did not matter and the learner is the same."""
    learner = used_learner("linear", "ours")
    learner.save(tmp_path / "learner")
    whole, X = (tmp_path / "learner").read_bytes(), make_stream("linear").X
    expected = (learner.predict(X).tobytes(), learner.width(X).tobytes())
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(600):
        damaged = bytearray(whole)
        damaged[rng.integers(len(whole))] ^= 1 << rng.integers(8)
        (tmp_path / "damaged").write_bytes(damaged)
        try:
            read = OneSidedLearner.load(tmp_path / "damaged")
        except ValueError as error:
            assert "damaged" in str(error)  # noqa: PT017
            refused += 1
        else:
            assert (read.predict(X).tobytes(), read.width(X).tobytes()) == expected
            assert read.waiting_ids.tolist() == learner.waiting_ids.tolist()
    assert refused > 300

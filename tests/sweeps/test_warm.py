"""Kernels are compiled before the workers start, and only those that cells need."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.sweeps import warm


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a package without a __pycache__, as with PYTHONDONTWRITEBYTECODE=1."""
    places = {"package": tmp_path / "package", "cache": tmp_path / "cache"}
    places["package"].mkdir()
    module = type("module", (), {"__path__": [str(places["package"])]})
    monkeypatch.setattr(warm.importlib, "import_module", lambda _: module)
    monkeypatch.setenv("XDG_CACHE_HOME", str(places["cache"]))
    return places["package"]


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    kinds: list[str] = []
    monkeypatch.setattr(warm, "_compile", kinds.append)
    return kinds


def test_what_cells_need_is_compiled_once(package, compiled, capsys) -> None:
    warm.warm_up(["linear"])
    assert compiled == ["linear"]
    assert capsys.readouterr().err == f"{warm.NOTICE}\n"
    warm.warm_up(["linear"])
    assert (compiled, capsys.readouterr().err) == (["linear"], "")
    warm.warm_up(["probit", "linear", "logistic"])  # all links that refit share their kernels
    assert compiled == ["linear", "logistic"]
    assert list(package.rglob("*.ready"))


def test_a_package_that_cannot_be_written_to_is_not_compiled_again_and_again(
    package: Path, compiled: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    (package / "__pycache__").write_text("no folder: nothing can be written into it")
    warm.warm_up(["linear"])
    capsys.readouterr()
    warm.warm_up(["linear"])
    assert (compiled, capsys.readouterr().err) == (["linear"], "")


def test_what_does_not_compile_is_told(package, monkeypatch) -> None:
    def fail(_: str) -> None:
        raise ValueError("a kernel is wrong")

    monkeypatch.setattr(warm, "_compile", fail)
    with pytest.raises(ValueError, match="a kernel is wrong"):
        warm.warm_up(["linear"])
    assert not list(package.parent.rglob("*.ready"))
    assert list(package.iterdir()) == []

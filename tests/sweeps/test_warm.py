"""Kernels are compiled before the workers start, also where numba's cache is of no use."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.sweeps import warm


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "glm.old.nbi").write_bytes(b"a class of a module that has moved")
    monkeypatch.setattr(warm, "_package", lambda _: tmp_path)
    return tmp_path


def kernels(package: Path) -> list[str]:
    return [file.name for file in package.rglob("*.nbi")]


def test_a_cache_that_cannot_be_read_is_made_anew(
    package: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def compile_kernels() -> None:
        if kernels(package):
            raise ModuleNotFoundError("No module named 'pipeline.core.solver'")

    monkeypatch.setattr(warm, "_compile", compile_kernels)
    warm.warm_up()
    assert kernels(package) == []
    assert capsys.readouterr().err == f"{warm.NOTICE}\n"
    warm.warm_up()
    assert capsys.readouterr().err == ""


def test_what_does_not_compile_is_told(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def compile_kernels() -> None:
        raise ValueError("a kernel is wrong")

    monkeypatch.setattr(warm, "_compile", compile_kernels)
    with pytest.raises(ValueError, match="a kernel is wrong"):
        warm.warm_up()
    assert not list(package.rglob("*.ready"))

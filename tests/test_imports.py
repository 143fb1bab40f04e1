"""Core knows no other room of the house: read from the source, so that no list can go stale."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
CORE = sorted((ROOT / "pipeline" / "core").rglob("*.py"))
FOREIGN = {
    "dvc", "hydra", "joblib", "matplotlib", "mlflow", "omegaconf", "openml", "pandas", "sklearn",
}  # fmt: skip


def package_of(path: Path) -> str:
    """The package in which a file's relative imports start."""
    return ".".join(path.relative_to(ROOT).parent.parts)


def imported_modules(source: str, package: str) -> Iterator[str]:
    """Absolute names of everything imported anywhere in a source, at the top or in a function."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")
            start = parents[: len(parents) - node.level + 1] if node.level else []
            module = [*start, node.module] if node.module else start
            yield from (".".join([*module, alias.name]) for alias in node.names)


def is_allowed(module: str) -> bool:
    top = module.partition(".")[0]
    if top == "pipeline":
        return f"{module}.".startswith("pipeline.core.")
    return top not in FOREIGN


def violations(source: str, package: str = "pipeline.core") -> list[str]:
    return [module for module in imported_modules(source, package) if not is_allowed(module)]


def test_core_has_files() -> None:
    assert CORE


@pytest.mark.parametrize("path", CORE, ids=lambda path: str(path.relative_to(ROOT)))
def test_core_imports_only_core(path: Path) -> None:
    assert violations(path.read_text(encoding="utf-8"), package_of(path)) == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import pipeline", "pipeline"),
        ("import pipeline.data as d", "pipeline.data"),
        ("import pipeline.core_of_another", "pipeline.core_of_another"),
        ("from pipeline import data", "pipeline.data"),
        ("from pipeline.demo import main", "pipeline.demo.main"),
        ("from .. import data", "pipeline.data"),
        ("from ..data import load", "pipeline.data.load"),
        ("import numpy, pandas.io", "pandas.io"),
        ("from sklearn.linear_model import Ridge", "sklearn.linear_model.Ridge"),
        ("def f():\n    import mlflow", "mlflow"),
    ],
)
def test_checker_finds_a_bad_import(source: str, found: str) -> None:
    assert violations(source) == [found]


@pytest.mark.parametrize(
    "source",
    [
        "import numpy as np",
        "from pipeline.core.links import logistic",
        "from pipeline import core",
        "from . import links",
        "from .links import logistic",
        "# import pandas",
    ],
)
def test_checker_accepts_a_good_import(source: str) -> None:
    assert violations(source) == []


def test_relative_imports_start_at_the_files_own_package() -> None:
    source = "from ..links import logistic"
    assert violations(source, "pipeline.core.methods") == []
    assert violations(source, "pipeline.core") == ["pipeline.links.logistic"]

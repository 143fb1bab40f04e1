"""Who may import whom: read from the source, so that no list can go stale."""

import ast
from collections import Counter
from collections.abc import Container, Iterator
from graphlib import CycleError, TopologicalSorter
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


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def module_in(name: str, modules: Container[str]) -> str | None:
    """The module that an imported name is, or is in; None where it is of another library."""
    while name and name not in modules:
        name = name.rpartition(".")[0]
    return name or None


def imports_of(sources: dict[str, tuple[str, str]]) -> dict[str, set[str]]:
    """Which modules each imports, from the source and the package of each."""
    found = {}
    for module, (source, package) in sources.items():
        names = (module_in(name, sources) for name in imported_modules(source, package))
        found[module] = {name for name in names if name not in (None, module)}
    return found


def test_no_two_modules_import_each_other_at_the_top_or_in_a_function() -> None:
    files = sorted((ROOT / "pipeline").rglob("*.py"))
    sources = {module_of(p): (p.read_text(encoding="utf-8"), package_of(p)) for p in files}
    assert len(sources) > 100
    TopologicalSorter(imports_of(sources)).prepare()  # raises CycleError, which names the cycle


def test_a_cycle_is_found() -> None:
    late = "def f():\n    from pipeline.a import x"
    sources = {
        "pipeline.a": ("from pipeline import b", "pipeline"),
        "pipeline.b": (late, "pipeline"),
    }
    with pytest.raises(CycleError):
        TopologicalSorter(imports_of(sources)).prepare()


SAME_THING = {  # in whichever room: what a package is for, so that its files may be called alike
    "base", "erm", "errors", "page", "picture", "run", "sgd", "tables",
}  # fmt: skip


def test_no_two_modules_share_a_name_that_means_different_things() -> None:
    names = Counter(path.stem for path in (ROOT / "pipeline").rglob("*.py"))
    shared = {name for name, count in names.items() if count > 1 and not name.startswith("__")}
    assert shared == SAME_THING

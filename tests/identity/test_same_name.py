"""What changes no figure changes no name: other places, other words, other layout."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.cells.cell import Cell
from pipeline.cells.compute import compute
from pipeline.cells.definitions import CODE, Code, Module
from pipeline.cells.identity import folder_of, identity_of
from pipeline.cells.problem import prepare
from pipeline.cells.read import make_cell
from pipeline.data.sources import Settings
from tests.cells.configs import SMALL, values
from tests.identity.names import file_of, folder_name, root, with_source

METHODS = ("ours", "erm", "sgd", "passive_cover")
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef


def names(code: Code = CODE) -> dict[str, str]:
    return {method: folder_name(method, code) for method in METHODS}


def source_of(module: str) -> str:
    return file_of(module).read_text(encoding="utf-8")


def rewritten(change: Callable[[str], str], **renamed: str) -> Code:
    """Return the code with every source changed, and modules renamed (old → new, dots as __)."""
    names()  # so that every module on the way is known
    others = {old.replace("__", "."): new for old, new in renamed.items()}
    modules: dict[str, Module | None] = dict.fromkeys(others)
    for name, known in CODE.modules.items():
        if known is not None and name.startswith("pipeline"):
            new = others.get(name, name)
            package = new if known.package == name else new.rpartition(".")[0]
            modules[new] = Module(new, change(source_of(name)), package)
    return Code(modules)


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [
        ("core.validation", '"ids holds the same row twice"', '"a row is there twice"'),
        ("core.validation", "{what} of numbers: {error}", "no numbers"),
        ("core.validation", "{LARGEST:g} so that their squares", "{LARGEST} so that the squares"),
        ("core.models.glm", "the classes are separable and", "classes can be told apart,"),
        ("core.models.glm", '"set l2 > 0, drop redundant', 'f"{self}: set l2 > 0, drop redundant'),
        ("core.engine", "the bonus is NaN; if it", "NaN is no bonus; if it"),
        ("core.engine", '"0 or 1" if spec', '"one or zero" if spec'),
        ("core.engine", "alpha {lane.alpha:g}, cutoff", "with alpha {lane.alpha!r} at cutoff"),
        ("core.learner", "learned or forgotten already", "not known any more"),
        ("core.methods.base", '"a positive number" if', '"more than zero" if'),
        ("core.methods.base", "{name} must be {bound}", "{name} is to be {bound}"),
        ("core.near_misses", 'f"; did you mean {match', 'f"; perhaps {match'),
        ("cells.problem", "protocol.initial: {error}", "initial rows: {error}"),
        ("data.splits", "the initial set needs a share or a count", "which initial set?"),
    ],
)
def test_a_reworded_error_keeps_every_name(module: str, old: str, new: str) -> None:
    source = source_of(f"pipeline.{module}")
    assert source.count(old) == 1
    assert names(with_source(f"pipeline.{module}", source.replace(old, new))) == names()


def test_docstrings_comments_and_layout_keep_every_name() -> None:
    def change(source: str) -> str:
        tree = ast.parse(source)
        for node in ast.walk(tree):
            if isinstance(node, DOCUMENTED) and ast.get_docstring(node):
                node.body[0] = ast.Expr(ast.Constant("Other words."))
        return f"# Why.\n{ast.unparse(tree)}"

    assert names(rewritten(change)) == names()


def test_a_function_may_gain_or_lose_its_docstring() -> None:
    def change(source: str) -> str:
        tree = ast.parse(source)
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                says = ast.get_docstring(node) is not None and len(node.body) > 1
                node.body = node.body[1:] if says else [ast.Expr(ast.Constant("A.")), *node.body]
        return ast.unparse(ast.fix_missing_locations(tree))

    assert names(rewritten(change)) == names()


def test_a_renamed_module_keeps_every_name() -> None:
    def change(source: str) -> str:
        return re.sub(r"\bvalidation\b", "checking", source)

    code = rewritten(change, pipeline__core__validation="pipeline.core.checking")
    assert names(code) == names()
    assert any(one.module == "pipeline.core.checking" for one in code.follow(prepare, compute).met)


def test_a_moved_file_keeps_every_name() -> None:
    def change(source: str) -> str:
        return re.sub(r"\bpipeline\.core\.(rows|solver)\b", r"pipeline.core.kernels.\1", source)

    code = rewritten(
        change,
        pipeline__core__rows="pipeline.core.kernels.rows",
        pipeline__core__solver="pipeline.core.kernels.solver",
    )
    assert names(code) == names()


def test_a_moved_definition_keeps_every_name() -> None:
    def change(source: str) -> str:
        return source.replace("from pipeline.core.tuning import", "from pipeline.core.lanes import")

    code = rewritten(change, pipeline__core__tuning="pipeline.core.nothing")
    own = "from pipeline.core.lanes import Simulation"
    rest = source_of("pipeline.core.tuning").replace(own, "")
    lanes = source_of("pipeline.core.lanes") + rest
    code.modules["pipeline.core.lanes"] = Module("pipeline.core.lanes", lanes, "pipeline.core")
    code.modules["pipeline.core.nothing"] = None
    assert names(code) == names()


def test_a_renamed_room_keeps_every_name() -> None:
    def change(source: str) -> str:
        return source.replace("pipeline.cells.", "pipeline.rooms.")

    rooms = [name for name in CODE.modules if name.startswith("pipeline.cells")]
    assert rooms
    renamed = {name.replace(".", "__"): name.replace(".cells", ".rooms") for name in rooms}
    roots = root("pipeline.rooms.problem", "prepare"), root("pipeline.rooms.compute", "compute")
    moved = rewritten(change, **renamed).follow(*roots)
    assert moved.digest == CODE.follow(prepare, compute).digest


def test_an_import_counts_by_what_it_binds() -> None:
    changes = [("import numpy as np", "import numpy"), (r"\bnp\.", "numpy.")]

    def change(source: str) -> str:
        for old, new in changes:
            source = re.sub(old, new, source)
        return source

    assert names(rewritten(change)) == names()


def test_a_flipped_intercept_is_another_result() -> None:
    source = source_of("pipeline.cells.cell")
    old = 'values["fit_intercept"] = intercept'
    assert source.count(old) == 1
    flipped = with_source("pipeline.cells.cell", source.replace(old, old.replace("= i", "= not i")))
    before = names()
    assert all(after != before[method] for method, after in names(flipped).items())


def test_a_changed_method_is_another_result_of_itself_only() -> None:
    source = source_of("pipeline.core.methods.ours")
    code = with_source(
        "pipeline.core.methods.ours", source.replace("alpha * width", "alpha / width")
    )
    changed = {method for method, name in names(code).items() if name != names()[method]}
    assert changed == {"ours"}


OWN = """
from dataclasses import dataclass
from pipeline.core.methods import Method, register

SCALE = {}


@register
@dataclass(frozen=True)
class Own(Method):
    name = "own_of_a_test"

    @staticmethod
    def bonus(t, alpha, score, width, draws):
        return scaled(alpha)

def scaled(alpha):
    return SCALE * alpha
"""


def own_cell(folder: Path, source: str | None = None) -> Cell:
    """Return a cell of a method of one's own, whose file is written first."""
    file = folder / "method" / "own_of_a_test.py"
    file.parent.mkdir(parents=True, exist_ok=True)
    if source is not None:
        file.write_text(source)
    config = {**values("dataset=blood", *SMALL), "method": {"name": "own_of_a_test"}}
    return make_cell(config, [folder])


def own_name(cell: Cell) -> str:
    return folder_of(cell, identity_of(cell, Settings.of(offline=True)), Path("outputs")).path.name


def test_a_method_of_ones_own_is_followed(tmp_path: Path) -> None:
    name = own_name(own_cell(tmp_path, OWN.format(1)))
    assert own_name(own_cell(tmp_path, OWN.format(2))) != name
    assert own_name(own_cell(tmp_path / "moved", "# Why.\n" + OWN.format(1))) == name


def test_a_changed_file_does_not_change_what_was_imported(tmp_path: Path) -> None:
    """A process that outlives a change of a file runs the old code, and says so."""
    old = own_cell(tmp_path, OWN.format(3))
    (tmp_path / "method" / "own_of_a_test.py").write_text(OWN.format(4))
    name = own_name(old)
    assert own_name(own_cell(tmp_path)) != name
    assert own_name(own_cell(tmp_path / "other", OWN.format(3))) == name

"""Sources with one small change each: an operator, a constant, a condition, a binding."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Mod, ast.Mod: ast.FloorDiv, ast.MatMult: ast.Mult, ast.LShift: ast.RShift,
    ast.RShift: ast.LShift, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitXor, ast.BitXor: ast.BitAnd,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.And: ast.Or, ast.Or: ast.And, ast.USub: ast.UAdd, ast.Not: ast.UAdd, ast.Invert: ast.USub,
}  # fmt: skip


class Edit(NamedTuple):
    """A new value of a field of a node."""

    node: ast.AST
    field: str
    value: Any


@dataclass(frozen=True)
class Mutant:
    """A module with one edit in one of its statements."""

    module: str
    lines: list[str]
    statement: ast.stmt
    edit: Edit

    def __str__(self) -> str:
        node, field, _ = self.edit
        line = getattr(node, "lineno", self.statement.lineno)
        return f"{self.module}, line {line}: {field} of {type(node).__name__}"

    def source(self) -> str:
        """Return the whole module."""
        node, field, value = self.edit
        before = getattr(node, field)
        setattr(node, field, value)
        text = ast.unparse(ast.fix_missing_locations(self.statement))
        setattr(node, field, before)
        decorators = getattr(self.statement, "decorator_list", [])
        first = min(one.lineno for one in (self.statement, *decorators)) - 1
        return "\n".join([*self.lines[:first], text, *self.lines[self.statement.end_lineno :], ""])


def mutants(module: str, source: str, names: Iterable[str]) -> Iterator[Mutant]:
    """Yield a module once for every change in some of its definitions, by qualified names."""
    tree, lines = ast.parse(source), source.splitlines()
    wanted = [node for name in names for node in _find(tree, name)]
    nodes = {id(node): node for top in wanted for node in _code(top)}
    used = {node.id for node in nodes.values() if isinstance(node, ast.Name)}
    for statement in tree.body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            edits = _bindings(statement, used)
        else:
            inside = [node for node in ast.walk(statement) if id(node) in nodes]
            edits = [edit for node in inside for edit in _edits(node)]
        yield from (Mutant(module, lines, statement, edit) for edit in edits)


def _find(tree: ast.Module, name: str) -> list[ast.AST]:
    """Return the statements that define a name, such as ``GLM.fit`` or ``EPS``."""
    found: list[ast.AST] = [tree]
    for part in (part for part in name.split(".") if not part.startswith("<")):
        inner = [node for top in found for node in ast.walk(top)]
        found = [node for node in inner if _defines(node, part)]
    return found


def _defines(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        inner = [one for target in targets for one in ast.walk(target)]
        return any(isinstance(one, ast.Name) and one.id == name for one in inner)
    return isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name


def _code(node: ast.AST, in_class: bool = False) -> Iterator[ast.AST]:
    """Yield the nodes that run: no docstrings, annotations of functions and words of errors."""
    yield node
    for field, value in ast.iter_fields(node):
        if field == "returns" or (field == "annotation" and not in_class):
            continue
        parts = value if isinstance(value, list) else [value]
        fails = isinstance(parts[-1] if parts else None, ast.Raise)
        for part in parts:
            words = isinstance(part, ast.Raise) or (fails and isinstance(part, ast.Assign))
            unused = isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant)
            message = isinstance(node, ast.Assert) and field == "msg"
            if isinstance(part, ast.AST) and not (words or unused or message):
                yield from _code(part, in_class=isinstance(node, ast.ClassDef))


def _edits(node: ast.AST) -> Iterator[Edit]:
    operator = getattr(node, "op", None)
    if type(operator) in OPERATORS:
        yield Edit(node, "op", OPERATORS[type(operator)]())
    match node:
        case ast.Compare(ops=ops):
            for k, one in enumerate(ops):
                yield Edit(node, "ops", [*ops[:k], OPERATORS[type(one)](), *ops[k + 1 :]])
        case ast.Constant(value=value):
            yield Edit(node, "value", _other(value))
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            yield Edit(node, "test", ast.UnaryOp(ast.Not(), test))
        case ast.keyword(arg=str(name)):
            yield Edit(node, "arg", f"{name}_")
        case ast.Attribute(attr=name):
            yield Edit(node, "attr", f"{name}_")
        case ast.Name(id=name):
            yield Edit(node, "id", f"{name}_")
        case ast.Return(value=ast.expr()):
            yield Edit(node, "value", None)
        case ast.Call(args=[first, second, *rest]) if ast.dump(first) != ast.dump(second):
            yield Edit(node, "args", [second, first, *rest])
    decorators = getattr(node, "decorator_list", [])
    for k in range(len(decorators)):
        yield Edit(node, "decorator_list", decorators[:k] + decorators[k + 1 :])
    yield from _deletions(node)


def _deletions(node: ast.AST) -> Iterator[Edit]:
    """Leave out one statement of a block."""
    block = getattr(node, "body", None)
    for k, one in enumerate(block if isinstance(block, list) else []):
        says = isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)
        if not (says or isinstance(one, ast.Import | ast.ImportFrom | ast.Pass)):
            yield Edit(node, "body", [*block[:k], ast.Pass(), *block[k + 1 :]])


def _bindings(statement: ast.Import | ast.ImportFrom, used: set[str]) -> Iterator[Edit]:
    """Bind each name that is used to something else: what the next one is bound to."""
    for k, alias in enumerate(statement.names):
        local = alias.asname or alias.name
        if local in used:
            following = statement.names[(k + 1) % len(statement.names)].name
            other = following if following != alias.name else f"{alias.name}_"
            changed = ast.alias(other, local)
            yield Edit(
                statement, "names", [*statement.names[:k], changed, *statement.names[k + 1 :]]
            )


def _other(value: object) -> object:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1 if value + 1 != value else -value
    return f"{value}x" if isinstance(value, str) else 0

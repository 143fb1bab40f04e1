"""A digest of definitions and of all they lead to: what code a result was computed by.

Source is followed name by name, from a function or class to whatever it names in the project, and
on from there. A definition counts by its syntax tree, an import by what it binds; where a
definition stands, what its file is called, comments, docstrings, layout, the words of errors and
annotations do not count. A variable of a global's name is taken for it: that only covers more.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

LENGTH = 16
PROJECT = __name__.partition(".")[0]
NOT_RUN = ("annotation", "returns")
IMPORTS = (ast.Import, ast.ImportFrom)
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
CHANGES = (ast.stmt, ast.Store)
# What binds names of a module and does no more: any other statement may change what they are.
BINDING = (*SCOPES, *IMPORTS, ast.Assign, ast.AnnAssign, ast.If, ast.Pass, ast.Name, ast.Store)

Target = tuple[str, tuple[str, ...]]  # a module, and names to look up from there
Part = str | tuple[Target, bool]  # text, or what a name leads to and whether it words an error
Found = tuple["Module | None", tuple[str, ...]]  # None outside of what is followed; a dotted name


class Definition(NamedTuple):
    """A name of a module; ``words`` where it does no more than to word an error."""

    module: str
    name: str
    words: bool


class Walk(NamedTuple):
    """The definitions that are met on the way from some, in that order, and a digest of them."""

    met: list[Definition]
    digest: str


class Code:
    """Modules as they were when first met, and the ways between their definitions.

    Args:
        modules: those to take as they are handed over; None for one that is not to be found.
    """

    def __init__(self, modules: Mapping[str, Module | None] | None = None) -> None:
        self.modules = dict(modules or {})

    def module(self, name: str) -> Module | None:
        """Return a module by its name, None where there is none."""
        if name not in self.modules:
            self.modules[name] = _read(name)
        return self.modules[name]

    def follow(self, *roots: Callable[..., Any], after: Walk | None = None) -> Walk:
        """Return functions and classes with every definition they lead to.

        Args:
            roots: where to start.
            after: its definitions are known already: they are referred to, but not followed.
        """
        known = [] if after is None else after.met
        numbers = {definition: number for number, definition in enumerate(known)}
        followed = {PROJECT, *(_top(root.__module__) for root in roots)}
        todo: list[Part] = []
        for root in roots:
            if self.module(root.__module__) is None:
                raise ValueError(f"the source of module {root.__module__} cannot be found")
            todo.append(((root.__module__, (_top(root.__qualname__),)), False))
        text = []
        for part in todo:  # grows meanwhile
            if isinstance(part, str):
                text.append(part)
                continue
            for module, (name, *attributes) in self._resolve(part[0], followed):
                called = name
                if module is not None:
                    definition = Definition(module.name, name, part[1])
                    if definition not in numbers:
                        todo += module.parts(name, part[1])
                    # So that two of the same name are not mistaken, and no module is named.
                    called = f"#{numbers.setdefault(definition, len(numbers))}"
                text.append(f" {'.'.join([called, *attributes])}")
        digest = hashlib.sha256("".join(text).encode()).hexdigest()[:LENGTH]
        return Walk([*numbers][len(known) :], digest)

    def _resolve(self, target: Target, followed: set[str]) -> list[Found]:
        """Return the definitions a name may lead to; all of a module where none is told."""
        name, path = target
        module = self.module(name) if _top(name) in followed else None
        if module is None:
            return [(None, (name, *path))]
        targets = module.targets(*path) if path else []
        if path and not targets and self.module(f"{name}.{path[0]}") is not None:
            targets = [(f"{name}.{path[0]}", path[1:])]
        if not targets:
            return [(module, (one, *path)) for one in sorted(module.statements)]
        found: list[Found] = [(module, path)] if target in targets else []
        others = [other for other in targets if other != target]
        return found + [one for other in others for one in self._resolve(other, followed)]


class Module:
    """The statements of a module, by the names they bind.

    Attributes:
        statements: those that bind a name other than by an import, in their order.
        imports: what each imported name may be, anywhere in the module.
    """

    def __init__(self, name: str, source: str, package: str) -> None:
        self.name, self.package = name, package
        self.statements: dict[str, list[ast.stmt]] = {}
        self.imports: dict[str, dict[Target, None]] = {}
        self._loose: list[ast.stmt] = []
        self._parts: dict[tuple[str, bool], list[Part]] = {}
        tree = ast.parse(source)
        for local, target in (one for node in ast.walk(tree) for one in _imported(node, package)):
            self.imports.setdefault(local, {})[target] = None
        for statement in tree.body:
            inside = [statement] if isinstance(statement, SCOPES) else ast.walk(statement)
            nodes = [node for node in inside if isinstance(getattr(node, "ctx", node), CHANGES)]
            names = {node.id for node in nodes if isinstance(node, ast.Name)}
            for bound in names | {node.name for node in nodes if isinstance(node, SCOPES)}:
                self.statements.setdefault(bound, []).append(statement)
            if not all(isinstance(node, BINDING) for node in nodes):
                self._loose.append(statement)

    def targets(self, name: str, *attributes: str) -> list[Target]:
        """Return what a name may be, nothing for a builtin or a variable of its own name."""
        here: list[Target] = [(self.name, (name,))] if name in self.statements else []
        anywhere = [(module, (name,)) for module, _ in self.imports.get("*", ())]
        found = [*here, *self.imports.get(name, ())] or anywhere
        return [(module, (*path, *attributes)) for module, path in found]

    def parts(self, name: str, words: bool) -> list[Part]:
        """Return the text of a definition; without its strings where they are but an error's."""
        if (name, words) not in self._parts:
            parts = self._parts[name, words] = [name]
            for statement in (*self._loose, *self.statements[name]):
                parts += self._written(statement, words)
                parts += [(target, words) for target in self._types(statement) if not words]
        return self._parts[name, words]

    def _written(self, node: Any, words: bool) -> Iterator[Part]:
        """Yield the text of a node, a list of nodes or a plain value."""
        match node:
            case ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant(value=str())):
                pass  # counts by what it binds; a docstring
            case ast.Constant(value=str()) | ast.JoinedStr() if words:
                yield "(…)"
            case ast.Name(ctx=ast.Load()) | ast.Attribute() if names := _dotted(node):
                found = self.targets(*names)
                yield "(" if found else f"( {'.'.join(names)}"  # unlike the name of a node
                yield from ((target, words) for target in found)
                yield ")"
            case ast.AST():
                yield f"({type(node).__name__}"
                for field, value in [*ast.iter_fields(node), ("types", _field_types(node))]:
                    says = isinstance(node, ast.Raise) or field == "msg"  # of an assert
                    if field not in NOT_RUN and value not in (None, []):  # [] may be new in Python
                        yield f" {field}="
                        yield from self._written(value, words or says)
                yield ")"
            case list():
                for item in node:
                    yield from self._written(item, words or _only_fails(node))
            case _:
                yield repr(node)

    def _types(self, statement: ast.stmt) -> list[Target]:
        """Return the classes that annotations name, in quotes or not: a method may be called."""
        nodes = [getattr(node, field, None) for node in ast.walk(statement) for field in NOT_RUN]
        names = re.findall(r"[^\W\d][\w.]*", " ".join(ast.unparse(one) for one in nodes if one))
        found = [target for name in names for target in self.targets(*name.split("."))]
        return [target for target in found if _top(target[0]) in (PROJECT, _top(self.name))]


def _imported(node: ast.AST, package: str) -> Iterator[tuple[str, Target]]:
    """Yield what an import binds, to what."""
    if isinstance(node, ast.ImportFrom):
        module = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
        yield from ((one.asname or one.name, (module, (one.name,))) for one in node.names)
    elif isinstance(node, ast.Import):
        for alias in node.names:
            name = alias.name if alias.asname else _top(alias.name)
            yield alias.asname or name, (name, ())


def _top(name: str) -> str:
    return name.partition(".")[0]


def _dotted(node: ast.AST) -> list[str]:
    """Return a name and the attributes after it; nothing if they follow something else."""
    if isinstance(node, ast.Attribute):
        names = _dotted(node.value)
        return names and [*names, node.attr]
    return [node.id] if isinstance(node, ast.Name) else []


def _field_types(node: ast.AST) -> list[ast.expr]:
    """Return the types of a class's fields: a dataclass reads them."""
    body = node.body if isinstance(node, ast.ClassDef) else []
    return [part.annotation for part in body if isinstance(part, ast.AnnAssign)]


def _only_fails(block: list[Any]) -> bool:
    """Tell whether statements do no more than to word an error and raise it."""
    *before, last = block or [None]
    targets = [target for one in before for target in getattr(one, "targets", [None])]
    return isinstance(last, ast.Raise) and all(isinstance(one, ast.Name) for one in targets)


def _read(name: str) -> Module | None:
    """Return a module; one without source has a digest of its file instead."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return None
    file = Path(getattr(spec, "origin", None) or "")
    read = getattr(getattr(spec, "loader", None), "get_source", None)
    source = None if read is None else read(name)
    if source is None and file.is_file():
        source = f"file = {hashlib.sha256(file.read_bytes()).hexdigest()!r}"
    return None if spec is None or source is None else Module(name, source, spec.parent or "")


CODE = Code()

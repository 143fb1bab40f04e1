"""What counts of a module's source: its syntax trees as text, with references where it names more.

Left out are comments, docstrings, layout, the words of errors, and annotations but for the classes
they name: a method of such a class may be called.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.util import resolve_name
from typing import Any, NamedTuple

Target = tuple[str, tuple[str, ...]]  # a module, and names to look up from there
Scope = Mapping[str, Sequence[Target]]  # what is known in a function: no target for a variable

STAR = "*"
WORDS = "…"
SKIPPED = {"ctx", "type_comment", "kind"}
NOT_RUN = {"annotation", "returns"}
IMPORTS = (ast.Import, ast.ImportFrom)
IMPORTING = (*IMPORTS, ast.If, ast.Try, ast.Pass)
PLAIN = (ast.Name, ast.Tuple, ast.List, ast.Starred, ast.expr_context)
NAMED = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef),
    *(ast.ExceptHandler, ast.MatchAs, ast.MatchStar),
)
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
# Where a name may be bound. One that := binds may be taken for a global one: that is too much.
BINDING = (
    *(ast.stmt, ast.excepthandler, ast.withitem, ast.match_case, ast.pattern),
    *(ast.Tuple, ast.List, ast.Starred),
)
Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class Reference(NamedTuple):
    """What a name leads to; met in code, in the words of an error, or as a type only."""

    target: Target
    words: bool
    is_type: bool


Part = str | Reference


class Module:
    """The statements of a module, by the names they bind.

    Attributes:
        imports: what each imported name may be.
        statements: those that bind a name, in their order.
    """

    def __init__(self, name: str, source: str, package: str) -> None:
        self.name, self.package = name, package
        self.imports: dict[str, list[Target]] = {}
        self.statements: dict[str, list[ast.stmt]] = {}
        self._loose: list[ast.stmt] = []
        self._parts: dict[tuple[str, bool], list[Part]] = {}
        for statement in ast.parse(source).body:
            for bound in self._add(statement):
                self.statements.setdefault(bound, []).append(statement)

    def _add(self, statement: ast.stmt) -> Iterable[str]:
        """Take up a statement and return the names it binds other than by an import."""
        match statement:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                return [statement.name]
            case ast.Assign(targets=targets) if all(map(_is_plain, targets)):
                return stored(targets)
            case ast.AnnAssign(target=ast.Name(id=name)) | ast.AugAssign(target=ast.Name(id=name)):
                return [name]
        inner = [node for node in ast.walk(statement) if isinstance(node, ast.stmt)]
        for node in inner:
            for local, found in bindings(node, self.package):
                known = self.imports.setdefault(local, [])
                known += [found] if found not in known else []
        # What does more than to bind names may change any of them: it counts with each.
        if not all(isinstance(node, IMPORTING) for node in inner):
            self._loose.append(statement)
        inside = [node.name for node in inner if isinstance(node, SCOPES)]
        return {*stored([statement]), *inside}

    def parts(self, name: str, words: bool) -> list[Part]:
        """Return the text of a definition; without its strings where they are but an error's."""
        if (name, words) not in self._parts:
            writer = _Writer(self)
            for statement in (*self._loose, *self.statements[name]):
                writer.write(statement, {}, words)
            self._parts[name, words] = [name, *writer.parts]
        return self._parts[name, words]

    def targets(self, name: str) -> list[Target]:
        """Return what a global name may be, nothing for a builtin."""
        here: list[Target] = [(self.name, (name,))] if name in self.statements else []
        found = here + self.imports.get(name, [])
        return found or [(module, (name,)) for module, _ in self.imports.get(STAR, [])]


class _Writer:
    """Writes syntax trees as parts."""

    def __init__(self, module: Module) -> None:
        self.parts: list[Part] = []
        self._module = module

    def write(self, node: Any, scope: Scope, words: bool) -> None:
        """Write a node, a list of nodes or a plain value."""
        if isinstance(node, list):
            words = words or _only_fails(node)
            for item in node:
                self.write(item, scope, words)
        elif not isinstance(node, ast.AST):
            self.parts.append(repr(node))
        elif words and (_is_string(node) or isinstance(node, ast.JoinedStr)):
            self.parts.append(WORDS)
        elif not isinstance(node, IMPORTS) and not _is_docstring(node):
            self.parts.append(f"({type(node).__name__}")
            self._node(node, scope, words)
            self.parts.append(")")

    def _node(self, node: ast.AST, scope: Scope, words: bool) -> None:
        match node:
            case ast.Constant(value=value):
                self.parts.append(f"{type(value).__name__} {value!r}")
            case ast.Name(ctx=ast.Load()) | ast.Attribute():
                self._chain(node, scope, words)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                inner = {**scope, **_locals(node, self._module.package)}
                self._fields(node, scope, words, inner)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                self.write(node.generators[0].iter, scope, words)  # runs outside
                targets = stored([part.target for part in node.generators])
                self._fields(node, {**scope, **dict.fromkeys(targets, ())}, words)
            case ast.ClassDef():
                fields = [part for part in node.body if isinstance(part, ast.AnnAssign)]
                types = [part.annotation for part in fields]  # a dataclass reads them
                self.write(types, scope, words)
                self._fields(node, scope, words)
            case ast.Raise():
                self._fields(node, scope, words=True)
            case ast.Assert(test=test, msg=message):
                self.write(test, scope, words)
                self.write(message, scope, words=True)
            case _:
                self._fields(node, scope, words)

    def _fields(
        self, node: ast.AST, scope: Scope, words: bool, body_scope: Scope | None = None
    ) -> None:
        inner = scope if body_scope is None else body_scope
        for field, value in ast.iter_fields(node):
            if field in SKIPPED or value is None or value == []:
                continue
            if field not in NOT_RUN:
                self.parts.append(f" {field}=")
                self.write(value, inner if field == "body" else scope, words)
            elif not words:
                self._types(value, scope)

    def _chain(self, node: ast.expr, scope: Scope, words: bool, is_type: bool = False) -> None:
        """Write a name and the attributes after it as what they lead to."""
        names: list[str] = []
        while isinstance(node, ast.Attribute):
            names.insert(0, node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            self.write(node, scope, words)
            self.parts.append("." + ".".join(names))
            return
        known = scope.get(node.id)
        targets = self._module.targets(node.id) if known is None else known
        for module, path in targets:
            self.parts.append(Reference((module, (*path, *names)), words, is_type))
        if not targets and not is_type:
            self.parts.append(".".join([node.id, *names]))

    def _types(self, node: ast.AST, scope: Scope) -> None:
        """Refer to what an annotation names."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node = _parsed(node.value)
        if isinstance(node, ast.Name | ast.Attribute):
            self._chain(node, scope, words=False, is_type=True)
            return
        for child in ast.iter_child_nodes(node):
            self._types(child, scope)


def bindings(statement: ast.AST, package: str) -> Iterator[tuple[str, Target]]:
    """Yield what an import binds, to what."""
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            top = alias.name.partition(".")[0]
            yield (alias.asname, (alias.name, ())) if alias.asname else (top, (top, ()))
    elif isinstance(statement, ast.ImportFrom):
        module = resolve_name("." * statement.level + (statement.module or ""), package)
        for alias in statement.names:
            yield alias.asname or alias.name, (module, (alias.name,))


def stored(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names that are assigned to anywhere in some nodes."""
    found = [node for top in nodes for node in ast.walk(top)]
    names = [node for node in found if isinstance(node, ast.Name)]
    return {name.id for name in names if isinstance(name.ctx, ast.Store)}


def _locals(function: Function, package: str) -> dict[str, list[Target]]:
    """Return the names of a function's own scope, with what its imports bind."""
    arguments = function.args
    every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    extras = [extra for extra in (arguments.vararg, arguments.kwarg) if extra is not None]
    found: dict[str, list[Target]] = {argument.arg: [] for argument in (*every, *extras)}
    outside: set[str] = set()
    for node in _own_nodes(function):
        if isinstance(node, ast.Name):
            if not isinstance(node.ctx, ast.Load):
                found.setdefault(node.id, [])
        elif isinstance(node, IMPORTS):
            for local, target in bindings(node, package):
                found.setdefault(local, []).append(target)
        elif isinstance(node, ast.Global):
            outside.update(node.names)
        elif isinstance(node, NAMED) and node.name is not None:
            found.setdefault(node.name, [])
    return {name: targets for name, targets in found.items() if name not in outside}


def _own_nodes(function: Function) -> Iterator[ast.AST]:
    """Yield what stands in a function, but not in the scopes within it."""
    todo: list[ast.AST] = [] if isinstance(function, ast.Lambda) else [*function.body]
    while todo:
        node = todo.pop()
        yield node
        if isinstance(node, BINDING) and not isinstance(node, SCOPES):
            todo.extend(ast.iter_child_nodes(node))


def _is_plain(target: ast.expr) -> bool:
    """Tell whether an assignment to it binds names and changes nothing else."""
    return all(isinstance(node, PLAIN) for node in ast.walk(target))


def _is_string(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_docstring(node: ast.AST) -> bool:
    """Tell whether it is a string that nobody uses."""
    return isinstance(node, ast.Expr) and _is_string(node.value)


def _only_fails(block: list[Any]) -> bool:
    """Tell whether statements do no more than to word an error and raise it."""
    *before, last = block or [None]
    return isinstance(last, ast.Raise) and all(
        isinstance(statement, ast.Assign) and all(map(_is_plain, statement.targets))
        for statement in before
    )


def _parsed(annotation: str) -> ast.AST:
    try:
        return ast.parse(annotation, mode="eval")
    except SyntaxError:  # a word of a Literal
        return ast.Pass()

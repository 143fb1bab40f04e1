"""A digest of definitions and of all they lead to: what code a result was computed by.

Source is followed name by name, from a function or class to whatever it names in the project, and
on from there. A definition counts by its syntax tree, an import by what it binds; where a
definition stands, what its file is called, messages, comments and docstrings do not count.
"""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.cells.syntax import Module, Reference, Target

LENGTH = 16
PROJECT = __name__.partition(".")[0]


class Definition(NamedTuple):
    """A name of a module; ``words`` where it does no more than to word an error."""

    module: str
    name: str
    words: bool = False


Found = tuple[Definition | str, tuple[str, ...]]  # or what it is called elsewhere; and attributes


class Code:
    """Modules as they were when first met, and the ways between their definitions.

    Args:
        modules: those to take as they are handed over; None for one that is not to be found.
    """

    def __init__(self, modules: Mapping[str, Module | None] | None = None) -> None:
        self.modules = dict(modules or {})

    def follow(self, *roots: Callable[..., Any], after: Walk | None = None) -> Walk:
        """Return functions and classes with every definition they lead to.

        Args:
            roots: where to start.
            after: definitions that are known already: they are referred to, but not followed.
        """
        starts = [(root.__module__, (root.__qualname__.partition(".")[0],)) for root in roots]
        walk = Walk(self, {PROJECT, *(module.partition(".")[0] for module, _ in starts)}, after)
        for start in starts:
            if self.module(start[0]) is None:
                raise ValueError(f"the source of module {start[0]} cannot be found")
            walk.refer(Reference(start, words=False, is_type=False))
        walk.finish()
        return walk

    def module(self, name: str) -> Module | None:
        """Return a module by its name, None where there is none."""
        if name not in self.modules:
            self.modules[name] = _read(name)
        return self.modules[name]

    def resolve(self, target: Target, followed: set[str]) -> list[Found]:
        """Return the definitions a name may lead to; all of a module where none is told."""
        name, path = target
        module = self.module(name) if name.partition(".")[0] in followed else None
        if module is None:
            return [(".".join([name, *path]), ())]
        found: list[Found] = []
        if path:
            first, *rest = path
            if first in module.statements:
                found.append((Definition(name, first), tuple(rest)))
            for other, more in module.targets(first):
                if (other, more) != (name, (first,)):
                    found += self.resolve((other, (*more, *rest)), followed)
            if not found and self.module(f"{name}.{first}") is not None:
                found = self.resolve((f"{name}.{first}", tuple(rest)), followed)
        return found or [(Definition(name, one), path) for one in sorted(module.statements)]


class Walk:
    """The definitions that are met on the way from some, and their text.

    In the text a definition is called by its number, in the order in which they are met: two of
    the same name are not taken for each other, and no module is named.

    Attributes:
        met: the definitions, in that order.
        text: in pieces.
    """

    def __init__(self, code: Code, followed: set[str], after: Walk | None) -> None:
        self.met: list[Definition] = []
        self.text: list[str] = []
        self._numbers: dict[Definition, int] = {} if after is None else dict(after._numbers)
        self._code, self._followed = code, followed

    @property
    def digest(self) -> str:
        """Return a digest of the text."""
        return hashlib.sha256("".join(self.text).encode()).hexdigest()[:LENGTH]

    def refer(self, reference: Reference) -> None:
        """Write down what a name leads to."""
        for found, attributes in self._code.resolve(reference.target, self._followed):
            if isinstance(found, Definition):
                number = self._number(found._replace(words=reference.words))
                self.text.append(f" #{'.'.join([str(number), *attributes])}")
            elif not reference.is_type:
                self.text.append(f" {found}")

    def _number(self, definition: Definition) -> int:
        if definition not in self._numbers:
            self._numbers[definition] = len(self._numbers)
            self.met.append(definition)
        return self._numbers[definition]

    def finish(self) -> None:
        """Go on from what was met until nothing new is."""
        for definition in self.met:  # grows meanwhile
            module = self._code.module(definition.module)
            assert module is not None
            for part in module.parts(definition.name, definition.words):
                if isinstance(part, str):
                    self.text.append(part)
                else:
                    self.refer(part)


def _read(name: str) -> Module | None:
    """Return a module; one without source has a digest of its file instead."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return None
    if spec is None or spec.loader is None:
        return None
    source = spec.loader.get_source(name) if hasattr(spec.loader, "get_source") else None
    if source is None:
        if spec.origin is None or not Path(spec.origin).is_file():
            return None
        source = f"file = {hashlib.sha256(Path(spec.origin).read_bytes()).hexdigest()!r}"
    is_package = spec.submodule_search_locations is not None
    return Module(name, source, name if is_package else name.rpartition(".")[0])


CODE = Code()

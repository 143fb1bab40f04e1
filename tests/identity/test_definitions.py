"""What counts of a definition and of what it leads to, on modules of a few lines."""

from __future__ import annotations

import importlib
import py_compile
import sys
from pathlib import Path

import pytest

from pipeline.cells.definitions import Code, Module
from tests.identity.names import root


def digest(source: str, **others: str) -> str:
    """Return the digest of ``f`` in a module m.a; ``b`` is m.b, ``__init__`` the package m."""
    sources = {"m": others.pop("__init__", ""), "m.a": source}
    sources |= {f"m.{name}": text for name, text in others.items()}
    modules = {name: Module(name, text, "m") for name, text in sources.items()}
    return Code(modules).follow(root("m.a", "f")).digest


ERROR = "def f(x):\n    if x:\n        {}\n    return x\n"
SAME = {
    "annotations": ("def f(x: int) -> int: return x", "def f(x: 'float'): return x"),
    "annotated variable": ("def f():\n    x: int = 1", "def f():\n    x: float = 1"),
    "layout": ("def f(x):\n    return (x +\n            1)", "def f(x): return x + 1  # why"),
    "docstring": ('def f():\n    """A."""\n    return 1', "def f(): return 1"),
    "error": (ERROR.format("raise ValueError('a')"), ERROR.format("raise ValueError(f'b {x}')")),
    "error of parts": (
        ERROR.format("raise ValueError('a' 'b')"),
        ERROR.format("raise ValueError(\n            'c'\n            f'{x}'\n        )"),
    ),
    "prepared error": (
        ERROR.format("kind = 'a' if x else 'b'; raise ValueError(kind)"),
        ERROR.format("kind = 'c' if x else 'd'; raise ValueError(kind)"),
    ),
    "error of a helper": (
        "def e(x): return ValueError('a')\n" + ERROR.format("raise e(x)"),
        "def e(x): return ValueError('b')\n" + ERROR.format("raise e(x)"),
    ),
    "named error": (
        "NO = 'a'\n" + ERROR.format("raise ValueError(NO)"),
        "NO = 'b'\n" + ERROR.format("raise ValueError(NO)"),
    ),
    "asserted": ("def f(x): assert x, 'a'", "def f(x): assert x, f'b {x}'"),
    "others": ("def g(): return 1\ndef f(): return 1", "def g(): return 2\ndef f(): return 1"),
    "imports for types": (
        "def f(): return 1",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import b\ndef f(): return 1",
    ),
    "another way to import": (
        "import numpy as np\ndef f(): return np.linalg.norm(1)",
        "def f():\n    from numpy import linalg\n    return linalg.norm(1)",
    ),
}


@pytest.mark.parametrize(("one", "other"), SAME.values(), ids=SAME)
def test_what_does_not_count(one: str, other: str) -> None:
    assert digest(one) == digest(other)


FIELD = "from dataclasses import dataclass\n@dataclass\nclass C:\n    {}\ndef f(): return C()"
OTHER = {
    "constant": ("def f(): return 1", "def f(): return 1.0"),
    "a variable of a node's name": (
        "def f(Constant): return None",
        "def f(Constant): return Constant",
    ),
    "sign": ("def f(x): return x", "def f(x): return -x"),
    "default": ("def f(x=1): return x", "def f(x=2): return x"),
    "keyword's default": ("def f(*, x=1): return x", "def f(*, x=2): return x"),
    "default of a variable's name": ("x = 1\ndef f(x=x): return x", "x = 2\ndef f(x=x): return x"),
    "order of arguments": ("def f(x, y): return x", "def f(y, x): return x"),
    "decorator": ("def d(g): return g\n@d\ndef f(): pass", "def d(g): return g\ndef f(): pass"),
    "flag of a decorator": (
        "import numba\n@numba.njit(fastmath=True)\ndef f(): pass",
        "import numba\n@numba.njit(fastmath=False)\ndef f(): pass",
    ),
    "type of a field": (FIELD.format("x: int = 1"), FIELD.format("x: ClassVar[int] = 1")),
    "default of a field": (FIELD.format("x: int = 1"), FIELD.format("x: int = 2")),
    "order of fields": (FIELD.format("x: int; y: int"), FIELD.format("y: int; x: int")),
    "method": ("class f:\n    def g(self): return 1", "class f:\n    def g(self): return 2"),
    "base": (
        "class B: x = 1\nclass f(B): pass",
        "class B: x = 2\nclass f(B): pass",
    ),
    "class of an argument": (
        "class C:\n    def g(self): return 1\ndef f(c: C): return c.g()",
        "class C:\n    def g(self): return 2\ndef f(c: C): return c.g()",
    ),
    "class named in quotes": (
        "class C:\n    def g(self): return 1\ndef f(c: 'C | None'): return c.g()",
        "class C:\n    def g(self): return 2\ndef f(c: 'C | None'): return c.g()",
    ),
    "constant of a constant": (
        "A = 1\nB = A + 1\ndef f(): return B",
        "A = 2\nB = A + 1\ndef f(): return B",
    ),
    "one of several": (
        "A, B = range(2)\ndef f(): return A",
        "A, B = range(2)\ndef f(): return B",
    ),
    "changed constant": ("A = 1\ndef f(): return A", "A = 1\nA += 1\ndef f(): return A"),
    "changed entry": ("A = {}\ndef f(): return A", "A = {}\nA[1] = 2\ndef f(): return A"),
    "run at import": (
        "import numpy as np\ndef f(): return 1",
        "import numpy as np\nnp.seterr(all='raise')\ndef f(): return 1",
    ),
    "either function": (
        "if True:\n    def g(): return 1\nelse:\n    def g(): return 2\ndef f(): return g()",
        "if True:\n    def g(): return 1\nelse:\n    def g(): return 3\ndef f(): return g()",
    ),
    "inner function": (
        "A = 1\ndef f():\n    def g(): return A\n    return g",
        "A = 2\ndef f():\n    def g(): return A\n    return g",
    ),
    "variable of an inner function": (
        "A = 1\ndef f():\n    def g():\n        A = 3\n    return A",
        "A = 2\ndef f():\n    def g():\n        A = 3\n    return A",
    ),
    "first of a comprehension": (
        "n = [1]\ndef f(): return [n for n in n]",
        "n = [2]\ndef f(): return [n for n in n]",
    ),
    "global variable": (
        "A = 1\ndef f():\n    global A\n    A = A + 1",
        "A = 2\ndef f():\n    global A\n    A = A + 1",
    ),
    "imported": (
        "from math import sin as g\ndef f(x): return g(x)",
        "from math import cos as g\ndef f(x): return g(x)",
    ),
    "imported inside": (
        "def f(x):\n    from math import sin as g\n    return g(x)",
        "def f(x):\n    from math import cos as g\n    return g(x)",
    ),
    "all imported": (
        "from math import *\ndef f(x): return sqrt(x)",
        "from cmath import *\ndef f(x): return sqrt(x)",
    ),
    "whether it fails": (ERROR.format("raise ValueError('a')"), ERROR.format("pass")),
    "how it fails": (ERROR.format("raise ValueError"), ERROR.format("raise KeyError")),
    "number in an error": (ERROR.format("raise KeyError(1)"), ERROR.format("raise KeyError(2)")),
    "text": ("def f(x): return x == 'a'", "def f(x): return x == 'b'"),
    "text of a function that may fail": (
        "def f(x):\n    y = 'a'\n    if x == y:\n        return 1\n    raise ValueError('no')",
        "def f(x):\n    y = 'b'\n    if x == y:\n        return 1\n    raise ValueError('no')",
    ),
}


@pytest.mark.parametrize(("one", "other"), OTHER.values(), ids=OTHER)
def test_what_counts(one: str, other: str) -> None:
    assert digest(one) != digest(other)


WAYS = {
    "from the module": "from m.b import g\ndef f(): return g()",
    "the module": "from m import b\ndef f(): return b.g()",
    "the module by another name": "import m.b as c\ndef f(): return c.g()",
    "the package": "import m\ndef f(): return m.b.g()",
    "from here": "from .b import g\ndef f(): return g()",
    "all of it": "from .b import *\ndef f(): return g()",
    "inside": "def f():\n    from m.b import g\n    return g()",
    "for later": "from m import b\ndef f(name): return getattr(b, name)()",
}


@pytest.mark.parametrize("source", WAYS.values(), ids=WAYS)
def test_another_module_is_followed(source: str) -> None:
    b = "A = {}\ndef g(): return A"
    assert digest(source, b=b.format(1)) != digest(source, b=b.format(2))
    assert digest(source, b=b.format(1)) == digest(source, b="# Why.\n" + b.format(1))


def test_a_package_may_hand_a_name_on() -> None:
    source, init = "from m import g\ndef f(): return g()", "from m.b import g\nfrom . import b"
    one = digest(source, __init__=init, b="def g(): return 1")
    assert one != digest(source, __init__=init, b="def g(): return 2")
    assert one == digest("from m.b import g\ndef f(): return g()", b="def g(): return 1")


def test_two_of_the_same_name_are_not_mistaken() -> None:
    others = {"b": "def g(): return 1", "c": "def g(): return 2"}
    source = "from m.{} import g\nfrom m.{} import g as h\ndef f(): return g() - h()"
    assert digest(source.format("b", "c"), **others) != digest(source.format("c", "b"), **others)


def test_a_circle_has_an_end() -> None:
    a = "from m.b import g\ndef f(): return g"
    b = "from m.a import f\ndef g(): return f() + {}"
    assert digest(a, b=b.format(1)) != digest(a, b=b.format(2))


@pytest.fixture
def compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder to import from, with a module that has no source."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "sourceless", raising=False)
    file = tmp_path / "source.py"
    file.write_text("def f(): return 1\n")
    py_compile.compile(str(file), str(tmp_path / "sourceless.pyc"))
    return tmp_path


def test_a_module_without_source_counts_by_its_file(compiled: Path) -> None:
    importlib.invalidate_caches()
    one = Code().follow(root("sourceless", "f")).digest
    (compiled / "source.py").write_text("def f(): return 2\n")
    py_compile.compile(str(compiled / "source.py"), str(compiled / "sourceless.pyc"))
    assert Code().follow(root("sourceless", "f")).digest != one


def test_a_module_that_is_not_there_is_named() -> None:
    with pytest.raises(ValueError, match="the source of module nowhere cannot be found"):
        Code().follow(root("nowhere", "f"))

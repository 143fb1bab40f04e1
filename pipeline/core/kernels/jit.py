"""Compile kernels with numba: one set of flags, and a cache that cannot go stale.

Numba keys its on-disk cache by the file a function stands in. A kernel that inlines a function
of another file would therefore survive a change of that other file. Here the name under which a
kernel is cached carries a digest of its own code and of every kernel it calls, so a change
anywhere below a kernel compiles it again.
"""

from __future__ import annotations

import builtins
import dis
import functools
import hashlib
import re
from collections.abc import Callable
from types import CodeType, FunctionType, ModuleType
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba import float64, int64, void

F = TypeVar("F", bound=Callable[..., Any])

# Sums may be reordered (SIMD) and fused; infinities keep their meaning: a bonus may be ±inf.
# Kernels allocate nothing, so numba need not count references (a third of the time at d = 8).
FLAGS: dict[str, Any] = {
    "nogil": True,
    "cache": True,
    "error_model": "numpy",
    "fastmath": {"reassoc", "contract", "nsz"},
    "_nrt": False,
}


def _text_of(flags: dict[str, Any]) -> bytes:
    """Return flags as text that does not depend on the order of sets."""
    values = {k: sorted(v) if isinstance(v, set) else v for k, v in flags.items()}
    return repr(sorted(values.items())).encode()


_FLAGS_TEXT = _text_of(FLAGS)

BONUS_SIGNATURE = float64(float64, float64, float64, float64, float64[::1])
LINK_SIGNATURE = void(float64[::1], float64[::1], int64)


def code_digest(function: Any) -> str:
    """Return a digest of a function's code, of its constants and of the kernels it calls."""
    python_function = getattr(function, "py_func", function)
    text = hashlib.sha256(_FLAGS_TEXT)
    _feed(text, python_function.__code__, python_function.__globals__)
    for cell in python_function.__closure__ or ():
        text.update(repr(cell.cell_contents).encode())
    return text.hexdigest()[:12]


def _feed(text: Any, code: CodeType, scope: dict[str, Any]) -> None:
    text.update(code.co_code)
    text.update(repr((code.co_names, code.co_varnames, code.co_freevars)).encode())
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            _feed(text, constant, scope)
        else:
            text.update(repr(constant).encode())
    for name in _global_names(code):
        if name not in scope and not hasattr(builtins, name):
            raise NameError(f"a kernel calls {name!r} before it is defined: its digest misses it")
        value = scope.get(name)
        found: list[Any] = [value]
        if isinstance(value, ModuleType):
            found = [getattr(value, attribute, None) for attribute in code.co_names]
        for item in found:
            if hasattr(item, "onesided_digest"):
                text.update(item.onesided_digest.encode())
            elif hasattr(item, "py_func"):
                text.update(code_digest(item).encode())
            elif isinstance(item, int | float | complex | str | tuple | np.number):
                text.update(repr(item).encode())


def _global_names(code: CodeType) -> list[str]:
    return [op.argval for op in dis.get_instructions(code) if op.opname == "LOAD_GLOBAL"]


def jit(function: F) -> F:
    """Compile a kernel on first use: without the GIL, cached on disk."""
    return _jit(function, "j")


def inlined(function: F) -> F:
    """Compile a kernel into its callers: a call would copy every field of every array it passes."""
    return _jit(function, "i", forceinline=True)


def exact(function: F) -> F:
    """Compile a kernel whose sums keep their order: compensated arithmetic depends on it."""
    return _jit(function, "x", fastmath={"contract"})


def _jit(function: F, kind: str, **special: Any) -> F:
    flags = hashlib.sha256(_text_of(special)).hexdigest()[:6]
    digest = f"{code_digest(function)}{kind}{flags}"
    function.__qualname__ = f"{function.__qualname__}_{digest}"
    compiled = numba.njit(**{**FLAGS, **special})(function)
    compiled.onesided_digest = digest
    return cast(F, compiled)


def compile_bonus(function: Callable[..., float]) -> Any:
    """Compile ``(t, alpha, score, width, draws) -> bonus`` to a function pointer.

    Every method then shares the engine's kernels: they are compiled once, not once a method.
    """
    return _compile_bonus(_source(function))


def compile_link(function: Callable[[float], float]) -> Any:
    """Compile ``out[k] = function(z[k])`` over the first n entries to a function pointer."""
    return _compile_link(_source(function))


class _Source:
    """A plain function, equal to every other function with the same code and closure."""

    def __init__(self, function: Callable[..., float]) -> None:
        self.function = function
        self.key = (function.__module__, function.__qualname__, code_digest(function))

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Source) and self.key == other.key


_source = functools.lru_cache(maxsize=1024)(_Source)


@functools.lru_cache(maxsize=256)
def _compile_bonus(source: _Source) -> Any:
    return _pointer(BONUS_SIGNATURE, source.function, source.key[-1])


@functools.lru_cache(maxsize=64)
def _compile_link(source: _Source) -> Any:
    scalar = numba.njit(error_model="numpy")(source.function)

    def over_array(z: Any, out: Any, n: int) -> None:
        for k in range(n):
            out[k] = scalar(z[k])

    name = "_".join(source.key)
    return _pointer(LINK_SIGNATURE, over_array, name)


def _pointer(signature: Any, plain: Any, name: str) -> Any:
    """Compile a copy of a function under a name that tells its code."""
    function = FunctionType(
        plain.__code__, plain.__globals__, plain.__name__, plain.__defaults__, plain.__closure__
    )
    function.__module__ = plain.__module__
    function.__qualname__ = re.sub(r"\W+", "_", f"{plain.__qualname__}_{name}")
    options: dict[str, Any] = {"error_model": "numpy", "fastmath": FLAGS["fastmath"]}
    try:
        return numba.cfunc(signature, cache=True, **options)(function)
    except RuntimeError as error:  # code typed into a prompt has no file to cache beside
        if "cannot cache" not in str(error):
            raise
        return numba.cfunc(signature, **options)(function)

"""Compile kernels with numba: one set of flags, and a cache that cannot go stale.

Python calls few kernels, the entries; all others are parts of them. Variants of a kernel (a dense
or a sparse table, a model with or without a solver) are told apart by the length of a tuple among
its arguments: numba compiles of ``if len(rows) == DENSE`` only the branch that is taken.

Numba keys its on-disk cache by the file a function stands in. A kernel that inlines a function
of another file would therefore survive a change of that other file. Here the name under which a
kernel is cached carries a digest of its own code and of every kernel it calls, so a change
anywhere below a kernel compiles it again.
"""

from __future__ import annotations

import builtins
import contextlib
import dis
import functools
import hashlib
import re
from collections.abc import Callable
from types import CodeType, FunctionType, ModuleType
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba import extending, float64, int64, types, void
from numba.core import cgutils
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.registry import CPUDispatcher

from pipeline.core.kernels.linking import PARTS, link_parts

F = TypeVar("F", bound=Callable[..., Any])

# Sums may be reordered (SIMD) and fused; infinities keep their meaning: a bonus may be ±inf.
# Kernels allocate nothing, so numba need not count references (a third of the time at d = 8).
FLAGS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"reassoc", "contract", "nsz"},
    "_nrt": False,
}


def _text_of(flags: dict[str, Any]) -> bytes:
    """Return flags as text that does not depend on the order of sets."""
    values = {k: sorted(v) if isinstance(v, set) else v for k, v in flags.items()}
    return repr(sorted(values.items())).encode()


_FLAGS_TEXT = _text_of(FLAGS)

# Python does not call parts.
_PART: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
LINKED = link_parts()

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
            elif hasattr(item, "py_func") or isinstance(item, FunctionType):
                text.update(code_digest(item).encode())
            elif isinstance(item, type) and hasattr(item, "_fields"):
                text.update(repr(item._fields).encode())
            elif isinstance(item, int | float | complex | str | tuple | np.number):
                text.update(repr(item).encode())


def _global_names(code: CodeType) -> list[str]:
    return [op.argval for op in dis.get_instructions(code) if op.opname == "LOAD_GLOBAL"]


def entry(function: F) -> F:
    """Compile a kernel that Python calls, on first use: without the GIL, cached on disk."""
    return _jit(function, "e")


@functools.cache
def variant(kernel: Any, name: str) -> Any:
    """Return an entry for arguments of one kind, with an index of its own in the cache.

    Of two processes that add to one index at the same time, one would have to compile again.
    """
    plain = getattr(kernel, "py_func", kernel)
    function = _copy_of(plain, f"{plain.__qualname__}_{name}")
    return _cached(numba.njit(**FLAGS)(function), function)


def _cached(compiled: Any, function: Any) -> Any:
    """Let numba keep what it compiles beside the function's file, or where the user may write."""
    with contextlib.suppress(RuntimeError):  # code typed into a prompt has no file
        compiled._cache = _Cache(function)  # no harm to a plain function
    return compiled


class _Files(IndexDataCacheFile):
    """The machine code of a kernel, each file named by the arguments it is for.

    Numba numbers these files: processes that compile for different arguments at the same time
    would write each other's code under the same number, and later run it.
    """

    def save(self, key: Any, data: Any) -> None:
        """Keep what was compiled for a key."""
        number = int(hashlib.sha256(repr(key).encode()).hexdigest()[:12], 16)
        name = self._data_name(number)
        self._save_data(name, data)
        self._save_index({**self._load_index(), key: name})


class _Cache(FunctionCache):
    """A cache of kernels that is made anew where it is damaged."""

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        self._cache_file.__class__ = _Files

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return what is kept for a signature, None where nothing is that can be read."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # whatever a damaged file makes pickle or LLVM raise
            self.flush()
            return None


def jit(function: F) -> F:
    """Compile a kernel that other kernels call."""
    return _jit(function, "j")


def inlined(function: F) -> F:
    """Compile a kernel into its callers: a call would copy every field of every array it passes."""
    return _jit(function, "i", forceinline=True)


def exact(function: F) -> F:
    """Compile a kernel whose sums keep their order: compensated arithmetic depends on it."""
    return _jit(function, "x", fastmath={"contract"})


def in_both(function: F) -> F:
    """Let kernels call a function that stays one of Python too."""
    options = {**FLAGS, **_PART, "forceinline": True}
    if LINKED:
        PARTS.add(function.__qualname__)
    return extending.register_jitable(**options)(function)


def _jit(function: F, kind: str, **special: Any) -> F:
    flags = hashlib.sha256(_text_of(special)).hexdigest()[:6]
    digest = f"{code_digest(function)}{kind}{flags}"
    function.__qualname__ = f"{function.__qualname__}_{digest}"
    options = {**FLAGS, **special}
    compiled: Any
    if kind == "e":
        compiled = _cached(numba.njit(**options)(function), function)
    else:
        compiled = numba.njit(**options, **_PART)(function)
        if isinstance(compiled, CPUDispatcher):  # else nothing is compiled
            compiled.__class__ = Part
            compiled.options = options  # type: ignore[attr-defined]
        if LINKED:
            PARTS.add(function.__qualname__)
    compiled.onesided_digest = digest
    return cast(F, compiled)


class Part(CPUDispatcher):
    """A kernel that other kernels call. Python, which has tests, is given one compiled for it."""

    options: dict[str, Any]

    def __call__(self, *arguments: Any) -> Any:
        """Call the kernel from Python."""
        return self.for_python(*arguments)

    @functools.cached_property
    def for_python(self) -> Any:
        """The kernel with machine code of its own."""
        function = _copy_of(self.py_func, f"{self.py_func.__qualname__}_for_python")
        return numba.njit(**self.options)(function)


def _copy_of(plain: Any, name: str, scope: dict[str, Any] | None = None) -> Any:
    """Return a copy of a function under another name, in another scope if one is given."""
    function = FunctionType(
        *(plain.__code__, plain.__globals__ if scope is None else scope, plain.__name__),
        *(plain.__defaults__, plain.__closure__),
    )
    function.__module__, function.__qualname__ = plain.__module__, name
    return function


def compile_bonus(function: Callable[..., float]) -> Any:
    """Compile ``(t, alpha, score, width, draws) -> bonus`` to a function with an ``address``.

    Every method then shares the engine's kernels: they are compiled once, not once a method.
    """
    return _compile_bonus(_source(function))


def compile_link(function: Callable[[float], float]) -> Any:
    """Compile ``out[k] = function(z[k])`` over the first n entries, with an ``address``."""
    return _compile_link(_source(function))


def _function_at(signature: Any) -> Any:
    """Return a kernel that makes a function of that signature of its address.

    An address is a number: Python need not find out the type of a function at every call.
    """
    kind = types.FunctionType(signature)

    def make(_context: Any, _address: Any) -> Any:
        def build(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            function = cgutils.create_struct_proxy(kind)(context, builder)
            pointer = function.c_addr.type
            function.c_addr = builder.inttoptr(arguments[0], pointer)
            function.py_addr = cgutils.get_null_value(pointer)
            function.jit_addr = cgutils.get_null_value(pointer)
            return function._getvalue()

        return kind(types.int64), build

    return extending.intrinsic(make)


bonus_at = _function_at(BONUS_SIGNATURE)
link_at = _function_at(LINK_SIGNATURE)


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
    return _pointer(BONUS_SIGNATURE, source.function, source.key[-1], source.function.__globals__)


@functools.lru_cache(maxsize=64)
def _compile_link(source: _Source) -> Any:
    # not a closure over the compiled function, with which numba would never find it in its cache
    scope = {"scalar": numba.njit(error_model="numpy")(source.function)}
    return _pointer(LINK_SIGNATURE, _over_array, "_".join(source.key), scope)


def _over_array(z: Any, out: Any, n: int) -> None:
    for k in range(n):
        out[k] = scalar(z[k])  # type: ignore[name-defined]  # noqa: F821


def _pointer(signature: Any, plain: Any, name: str, scope: dict[str, Any]) -> Any:
    """Compile a copy of a function under a name that tells its code."""
    function = _copy_of(plain, re.sub(r"\W+", "_", f"{plain.__qualname__}_{name}"), scope)
    options: dict[str, Any] = {"error_model": "numpy", "fastmath": FLAGS["fastmath"]}
    try:
        return numba.cfunc(signature, cache=True, **options)(function)
    except RuntimeError as error:  # code typed into a prompt has no file to cache beside
        if "cannot cache" not in str(error):
            raise
        return numba.cfunc(signature, **options)(function)

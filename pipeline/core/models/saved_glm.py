"""The arrays of a saved GLM: checked before a kernel sees them, whichever version wrote them.

Kernels trust their arrays: a count out of range would make them write where nothing is theirs.
Only lower triangles count, so that there is no symmetry to check.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.core import validation
from pipeline.core.kernels.inverse import (
    COLUMNS,
    PENDING,
    RECENT,
    RECENT_ROWS,
    STACK,
    STACKED,
    inverse_of,
)
from pipeline.core.kernels.memory import Memory, make_memory, solved_of, state_of
from pipeline.core.kernels.rows import FloatArray
from pipeline.core.kernels.solver import FITTED, QUASI_NEWTON_STEPS, REFIT_PASSES
from pipeline.core.models.base import ModelSpec

Arrays = dict[str, NDArray[Any]]


def read_memory(arrays: Arrays, part: str, spec: ModelSpec, refits: bool, n_rows: int) -> Memory:
    """Return the memory saved as ``part``; ValueError if a kernel could not work on it."""
    if f"{part}.P" in arrays:
        return _check(_of_version_1(arrays, part, refits, n_rows), spec, refits, n_rows)
    counts = _array(arrays, f"{part}.counts", (FITTED + 1,), np.int64)
    d = int(counts[COLUMNS])
    _demand(1 <= d <= 100_000, part, "the number of columns")
    memory = make_memory(np.zeros(d), refits)
    memory[0][:] = _array(arrays, f"{part}.kept", memory[0].shape, np.float64)
    memory[2][:] = counts
    return _check(memory, spec, refits, n_rows)


def read_rows(arrays: Arrays, d: int, spec: ModelSpec) -> tuple[FloatArray, FloatArray]:
    """Return the rows kept for refits, the constant column included, and their labels."""
    n = len(arrays["y"])
    X = validation.features(_array(arrays, "X", (n, d), np.float64))
    y = validation.labels(_array(arrays, "y", (n,), np.float64), n, spec.link)
    constant = not spec.fit_intercept or bool((X[:, -1] == 1.0).all())
    _demand(constant, "X", "the constant column")
    return X.copy(), y.copy()


def _array(arrays: Arrays, name: str, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    array = arrays[name]
    if array.shape != shape or array.dtype != dtype:
        raise ValueError(f"{name} has shape {array.shape} and type {array.dtype}")
    return array


def _demand(holds: bool, part: str, what: str) -> None:
    if not holds:
        raise ValueError(f"{what} of {part!r} cannot be")


def _check(memory: Memory, spec: ModelSpec, refits: bool, n_rows: int) -> Memory:
    kept, _, counts = memory
    inverse, d = inverse_of(memory), int(counts[COLUMNS])
    limits = {
        PENDING: len(inverse.U) - 1,
        STACKED: STACK - 1,
        RECENT: RECENT_ROWS - 1,
        REFIT_PASSES: QUASI_NEWTON_STEPS,
        FITTED: n_rows if refits else 0,
    }
    for place, most in limits.items():
        _demand(0 <= counts[place] <= most, "counts", f"number {place}")
    _demand(bool(np.isfinite(kept).all()), "kept", "a value that is not finite, one")
    same = np.array_equal(inverse.penalty, spec.penalty(d - spec.fit_intercept))
    _demand(same, "kept", "the penalty")
    positive = np.diag(inverse.A).min() >= 0.0 and np.diag(inverse.P).min() > 0.0
    _demand(bool(positive and inverse.drift[0] >= 0.0), "kept", "a negative diagonal or drift")
    return memory


def _of_version_1(arrays: Arrays, part: str, refits: bool, n_rows: int) -> Memory:
    """Return the memory of a file of version 1, which named every matrix."""
    d = len(arrays[f"{part}.penalty"])
    memory = make_memory(np.zeros(d), refits)
    state, inverse, counts = state_of(memory), inverse_of(memory), memory[2]
    views = {f"{part}.{name}": view for name, view in inverse._asdict().items()}
    for name in ("counts", "W", "L"):
        del views[f"{part}.{name}"]
    views |= {"fit.beta": state.beta, "moment": state.moment, "carry": state.carry}
    if refits:
        views["fit.gradient"], views["fit.H"] = solved_of(memory)
    for name, view in views.items():
        view[...] = _array(arrays, name, view.shape, np.float64)
    places = {"pending": PENDING, "stacked": STACKED, "recent": RECENT}
    for name, place in places.items():
        counts[place] = _array(arrays, f"{part}.{name}", (1,), np.int64)[0]
    if refits:
        counts[REFIT_PASSES] = _array(arrays, "fit.passes", (1,), np.int64)[0]
        counts[FITTED] = n_rows
    return memory

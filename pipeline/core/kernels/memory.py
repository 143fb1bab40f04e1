"""All that a GLM knows, in one flat array that is kept, one for scratch work, and one of counts.

Python hands a kernel three arrays instead of forty, a copy of a learner is one copy, and a kernel
lays its matrices over them itself. Kept are, one after the other, A and A⁻¹, β, the moments Σ x y
with what rounding took from them and, for every link but the linear one, the solver's gradient
and Hessian.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.core.kernels.inverse import COLUMNS, Inverse, inverse_of, inverse_size
from pipeline.core.kernels.jit import in_both, inlined, link_at
from pipeline.core.kernels.rows import FloatArray
from pipeline.core.kernels.solver import BLOCK, FITTED, MEMORY, N_VECTORS, Fit

Memory = tuple[FloatArray, FloatArray, NDArray[np.int64]]
# Addresses of μ and μ' over an array; () for the linear link.
LinkPointers = tuple[int, int] | tuple[()]


class State(NamedTuple):
    """What every GLM has: β, the moments, A and A⁻¹, and room for one row and one vector."""

    beta: FloatArray
    moment: FloatArray
    carry: FloatArray
    vector: FloatArray
    row: FloatArray
    learned: Inverse


def make_memory(penalty: FloatArray, refits: bool) -> Memory:
    """Return the memory of a GLM that has learned nothing: A = diag(penalty), β = 0."""
    d = len(penalty)
    kept = inverse_size(d) + 3 * d + refits * (d + d * d)
    scratch = 2 * d * d + 2 * d
    scratch += refits * (d * d + (N_VECTORS + 2 * MEMORY + 2) * d + 2 * MEMORY + 2 * BLOCK)
    counts = np.zeros(FITTED + 1, dtype=np.int64)
    counts[COLUMNS] = d
    memory = (np.zeros(kept), np.zeros(scratch), counts)
    inverse = inverse_of(memory)
    inverse.penalty[:] = penalty
    np.fill_diagonal(inverse.A, penalty)
    if refits:
        np.fill_diagonal(solved_of(memory)[1], penalty)
    return memory


def copy_memory(memory: Memory) -> Memory:
    """Return an independent copy, with scratch space of its own."""
    kept, scratch, counts = memory
    return kept.copy(), np.zeros_like(scratch), counts.copy()


@in_both
def state_of(memory):
    """Return the views of what every GLM has."""
    kept, scratch, counts = memory
    d = counts[COLUMNS]
    first, free = inverse_size(d), 2 * d * d
    return State(
        kept[first : first + d],
        kept[first + d : first + 2 * d],
        kept[first + 2 * d : first + 3 * d],
        scratch[free : free + d],
        scratch[free + d : free + 2 * d],
        inverse_of(memory),
    )


@in_both
def solved_of(memory):
    """Return the views of the solver that are kept: the gradient and H."""
    kept, _, counts = memory
    d = counts[COLUMNS]
    first = inverse_size(d) + 3 * d
    return kept[first : first + d], kept[first + d : first + d + d * d].reshape((d, d))


@inlined
def fit_of(memory, link):
    """Return the views of the solver, () where there is none."""
    if len(link) == 0:
        return ()
    scratch, counts = memory[1], memory[2]
    d = counts[COLUMNS]
    state = state_of(memory)
    gradient, H = solved_of(memory)
    vectors = 2 * d * d + 2 * d
    pairs = vectors + N_VECTORS * d
    changes = pairs + MEMORY * d
    scalars = changes + MEMORY * d
    block = scalars + 2 * MEMORY
    before = block + 2 * BLOCK
    return Fit(
        state.beta,
        gradient,
        H,
        state.learned.penalty,
        counts,
        state.learned.L,
        scratch[vectors:pairs].reshape((N_VECTORS, d)),
        scratch[pairs:changes].reshape((MEMORY, d)),
        scratch[changes:scalars].reshape((MEMORY, d)),
        scratch[scalars:block].reshape((2, MEMORY)),
        scratch[block:before].reshape((2, BLOCK)),
        scratch[before:],
        link_at(link[0]),
        link_at(link[1]),
    )

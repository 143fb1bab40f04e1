"""Uniform draws that depend on nothing but a key, the example and the slot.

A counter-based generator (the finaliser of SplitMix64; Steele, Lea & Flood 2014): the n-th example
of a stream has the same draws whatever the batch size, the number of threads or the order in
which lanes run, and no table of draws is kept.
"""

from __future__ import annotations

import hashlib

import numpy as np

from pipeline.core.kernels.jit import entry, jit

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)


def draw_key(*parts: object) -> int:
    """Hash what identifies a lane's draws (seed, split, method, alpha, …) to 63 bits."""
    digest = hashlib.sha256(repr(parts).encode()).digest()
    return int.from_bytes(digest[:8], "little") >> 1


@jit
def _scramble(h):
    h = (h ^ (h >> _S30)) * _MIX1
    h = (h ^ (h >> _S27)) * _MIX2
    return h ^ (h >> _S31)


@entry
def fill_draws(key, example, draws):
    """Fill ``draws`` with uniforms on [0, 1) for example number ``example`` (from 0)."""
    base = _scramble(np.uint64(key) + _GOLDEN)
    for slot in range(draws.shape[0]):
        counter = np.uint64(example) * np.uint64(64) + np.uint64(slot + 1)
        h = _scramble(base + counter * _GOLDEN)
        draws[slot] = (h >> _S11) * (1.0 / 9007199254740992.0)

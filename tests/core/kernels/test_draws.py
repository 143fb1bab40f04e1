"""Draws are uniform, independent across examples, slots and keys, and depend on nothing else."""

from collections.abc import Iterator

import numpy as np
import pytest
from scipy.stats import kstest

from pipeline.core.kernels.draws import draw_key, fill_draws

KEYS = [0, 1, 2, 12_345, 2**62, 2**63 - 1, draw_key(0, "ours", 0.5)]
N = 20_000
FAR = 4.5 / np.sqrt(N)  # a correlation of independent draws exceeds this once in 10⁵ times


def draws_of(key: int, n: int = N, slots: int = 2, first: int = 0) -> np.ndarray:
    out = np.full((n, slots), np.nan)
    for example in range(n):
        fill_draws(key, first + example, out[example])
    return out


def correlation(a: np.ndarray, b: np.ndarray) -> float:
    return abs(float(np.corrcoef(a, b)[0, 1]))


@pytest.mark.parametrize("key", KEYS)
def test_draws_are_uniform(key: int) -> None:
    u = draws_of(key)
    assert u.min() >= 0.0
    assert u.max() < 1.0
    for slot in range(2):
        assert kstest(u[:, slot], "uniform").pvalue > 1e-4
        assert u[:, slot].mean() == pytest.approx(0.5, abs=4.5 / np.sqrt(12 * N))
        assert u[:, slot].var() == pytest.approx(1 / 12, abs=4.5 / np.sqrt(180 * N))


def test_low_bits_are_uniform_too() -> None:
    bits = (draws_of(3).ravel() * 2**53).astype(np.uint64)
    for shift in (0, 1, 10, 30):
        ones = (bits >> np.uint64(shift)) & np.uint64(1)
        assert ones.mean() == pytest.approx(0.5, abs=4.5 / np.sqrt(8 * N))


@pytest.mark.parametrize("lag", [1, 2, 3, 64])
@pytest.mark.parametrize("key", KEYS[:4])
def test_examples_are_independent(key: int, lag: int) -> None:
    u = draws_of(key)[:, 0]
    assert correlation(u[:-lag], u[lag:]) < FAR
    assert correlation((u[:-lag] - 0.5) ** 2, (u[lag:] - 0.5) ** 2) < FAR


def test_slots_are_independent() -> None:
    u = draws_of(5, slots=4)
    for a in range(4):
        for b in range(a):
            assert correlation(u[:, a], u[:, b]) < FAR
            assert correlation(u[1:, a], u[:-1, b]) < FAR


@pytest.mark.parametrize("key", [0, 1, 63, 64, 2**40])
@pytest.mark.parametrize("distance", [1, 2, 64])
def test_neighbouring_keys_are_independent(key: int, distance: int) -> None:
    u, v = draws_of(key), draws_of(key + distance)
    assert correlation(u[:, 0], v[:, 0]) < FAR
    assert correlation(u[:-1, 0], v[1:, 0]) < FAR
    assert correlation(u[:-1, 1], v[1:, 0]) < FAR
    assert len(np.intersect1d(u, v)) == 0


def test_first_draw_is_uniform_over_keys() -> None:
    first = np.array([draws_of(key, n=1)[0] for key in range(N)])
    assert kstest(first[:, 0], "uniform").pvalue > 1e-4
    assert correlation(first[:-1, 0], first[1:, 0]) < FAR


def test_draws_depend_on_key_example_and_slot_only() -> None:
    whole = draws_of(9, n=100, slots=3)
    np.testing.assert_array_equal(draws_of(9, n=40, slots=3, first=60), whole[60:])
    np.testing.assert_array_equal(draws_of(9, n=100, slots=1), whole[:, :1])
    assert len(np.unique(whole)) == whole.size


def test_keys_tell_their_parts_apart() -> None:
    parts = [(0,), (1,), (0, 0), (0, 1), (0, "ours"), (0, "ours", 0.5), (0, "ours", 0.25), ("0",)]
    keys = [draw_key(*part) for part in parts]
    assert len(set(keys)) == len(keys)
    assert all(0 <= key < 2**63 for key in keys)
    assert keys == [draw_key(*part) for part in parts]


def split_mix(seed: int) -> Iterator[int]:
    """SplitMix64 in Python's own integers (Steele, Lea & Flood 2014, figure 17)."""
    mask = 2**64 - 1
    while True:
        seed = (seed + 0x9E3779B97F4A7C15) & mask
        h = ((seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9) & mask
        h = ((h ^ (h >> 27)) * 0x94D049BB133111EB) & mask
        yield h ^ (h >> 31)


def test_draws_are_those_of_splitmix64() -> None:
    stream = split_mix(1_234_567)
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert [next(stream) for _ in range(3)] == published

    key, example = 2**63 - 1, 3
    start = next(split_mix(key))
    stream = split_mix(start)
    expected = [next(stream) for _ in range(64 * example + 5)][64 * example :]
    found = draws_of(key, n=1, slots=5, first=example)[0]
    np.testing.assert_array_equal(found, [(h >> 11) / 2**53 for h in expected])

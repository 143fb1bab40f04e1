"""Datasets whose truth is known: β* is chosen, not fitted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pipeline.core.links import Link, get_link
from pipeline.data.dataset import Dataset, Group
from pipeline.data.encode.kinds import FloatArray
from pipeline.data.errors import DataError

LICENCE = "generated, no rights reserved"
TRAP_GROUPS = ("v", "others")
PAPER = (
    "Jiang, H., Jiang, Q. & Pacchiano, A. (2021). Learning the Truth From Only One Side of the "
    "Story. AISTATS 2021"
)


def glm(
    d: int = 10,
    n: int = 10_000,
    noise: float = 1.0,
    link: str = "linear",
    seed: int = 0,
    coef_norm: float = 1.0,
    noise_kind: str = "normal",
    features: str = "normal",
) -> Dataset:
    """Return rows of uniform direction with means μ(x'β*), β* of uniform direction too.

    Args:
        d: columns.
        n: rows.
        noise: size of the labels' noise around their means, for the linear link; labels of the
            other links are 0/1, drawn with their means as probabilities.
        link: linear, logistic or probit.
        seed: of everything that is drawn.
        coef_norm: ‖β*‖.
        noise_kind: normal, with standard deviation ``noise``; or uniform on ±``noise``, so that
            |ε| ≤ B = ``noise`` (Algorithm 3).
        features: normal, x ~ N(0, I); or sphere, with ‖x‖ = B = 1 (Assumption 2).
    """
    known = _check(link, {"d": d, "n": n}, {"noise": noise, "coef_norm": coef_norm})
    _check_kind("noise_kind", noise_kind, NOISES)
    _check_kind("features", features, FEATURES)
    rng = np.random.default_rng([seed, 0])
    beta = coef_norm * _unit_rows(rng, 1, d)[0]
    X = FEATURES[features](rng, n, d)
    return _dataset("glm", X, beta, known, noise, rng, noise_kind=noise_kind)


def greedy_trap(
    d: int = 10,
    n: int = 10_000,
    cutoff: float = 0.5,
    gap: float = 0.25,
    link: str = "linear",
    seed: int = 0,
    noise: float = 1.0,
    share: float = 0.1,
    coef_norm: float = 1.0,
) -> Dataset:
    """Return the distribution of Theorem 1, on which the greedy rule may stay wrong for ever.

    A row is v with probability 1/10, else a unit vector orthogonal to v; μ(v'β*) = c + τ. What is
    learned from the others says nothing about v: once v looks bad, no label of v is ever seen.
    Here v is the first unit vector, and the rest of β* has a uniform direction. The rows that are v
    and the others are two groups, so that results say which of them bears the loss.

    Args:
        d: columns, at least 2.
        n: rows.
        cutoff: c, on the scale of the mean.
        gap: τ > 0.
        link: linear, with labels μ + N(0, noise²); or logistic, probit with labels 0/1.
        seed: of everything that is drawn.
        noise: standard deviation of the labels, for the linear link.
        share: probability of v.
        coef_norm: length of β* without its part along v.
    """
    known = _check(link, {"d": d - 1, "n": n}, {"noise": noise, "coef_norm": coef_norm})
    if not (np.isfinite(gap) and gap > 0):
        raise DataError(f"gap must be a finite number > 0, got {gap!r}")
    if not 0 < share < 1:
        raise DataError(f"share must lie between 0 and 1, got {share!r}")
    if known.binary and not 0 < cutoff < cutoff + gap < 1:
        between = f"cutoff {cutoff:g} and cutoff + gap {cutoff + gap:g}"
        raise DataError(f"{between} must lie between 0 and 1, as means of the {link} link do")
    rng = np.random.default_rng([seed, 1])
    beta = np.append(known.inverse(cutoff + gap), coef_norm * _unit_rows(rng, 1, d - 1)[0])
    X = np.zeros((n, d))
    on_v = rng.random(n) < share
    X[on_v, 0] = 1.0
    X[~on_v, 1:] = _unit_rows(rng, int((~on_v).sum()), d - 1)
    group = Group("direction", (~on_v).astype(np.int64), TRAP_GROUPS)
    own: dict[str, Any] = {"citation": PAPER, "cutoff_value": float(cutoff), "group": group}
    return _dataset("greedy_trap", X, beta, known, noise, rng, **own)


def _dataset(
    name: str,
    X: FloatArray,
    beta: FloatArray,
    link: Link,
    noise: float,
    rng: np.random.Generator,
    noise_kind: str = "normal",
    **own: Any,
) -> Dataset:
    truth = np.array([link.mean(z) for z in X @ beta])
    if link.binary:
        y = (rng.random(len(X)) < truth).astype(np.float64)
    else:
        y = truth + noise * NOISES[noise_kind](rng, len(X))
    return Dataset(
        name=name,
        protocol="synthetic",
        X=X,
        y=y,
        columns=tuple(f"x{k}" for k in range(X.shape[1])),
        intercept=False,
        source="generated",
        licence=LICENCE,
        truth=truth,
        beta=beta,
        **own,
    )


def _unit_rows(rng: np.random.Generator, n: int, d: int) -> FloatArray:
    """Return n uniform directions."""
    rows = rng.standard_normal((n, d))
    unit: FloatArray = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


FEATURES = {"normal": lambda rng, n, d: rng.standard_normal((n, d)), "sphere": _unit_rows}
NOISES = {
    "normal": lambda rng, n: rng.standard_normal(n),
    "uniform": lambda rng, n: rng.uniform(-1.0, 1.0, n),
}


def _check_kind(name: str, kind: str, known: Mapping[str, object]) -> None:
    if kind not in known:
        raise DataError(f"{name} is {' or '.join(known)}, not {kind!r}")


def _check(link: str, counts: Mapping[str, int], sizes: Mapping[str, float]) -> Link:
    """Return a link by its name; raise where that or a number is out of place."""
    for name, count in counts.items():
        if count < 1:
            raise DataError(f"{name} is too small: {count}")
    for name, value in sizes.items():
        if not (np.isfinite(value) and value >= 0):
            raise DataError(f"{name} must be a finite number >= 0, got {value!r}")
    try:
        return get_link(link)
    except ValueError as error:
        raise DataError(str(error)) from None

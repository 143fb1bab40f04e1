"""Links: how a linear predictor z = x'β becomes a mean μ(z) (Assumption 1 of the paper).

A link is μ, its derivative, its inverse and its Lipschitz constant L, and nothing else. μ and μ'
are plain scalar functions: Python can call them, and the kernels compile them.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import ClassVar

from scipy.special import ndtri

from pipeline.core.near_misses import closest

_SQRT2 = math.sqrt(2.0)
_SQRT2PI = math.sqrt(2.0 * math.pi)


class Link(ABC):
    """μ, μ', μ⁻¹ and L = sup μ'. ``binary`` says whether labels must be 0 or 1."""

    name: ClassVar[str]
    lipschitz: ClassVar[float]
    binary: ClassVar[bool] = True

    @staticmethod
    @abstractmethod
    def mean(z: float) -> float:
        """Return μ(z)."""

    @staticmethod
    @abstractmethod
    def slope(z: float) -> float:
        """Return μ'(z) > 0."""

    @staticmethod
    @abstractmethod
    def inverse(mean: float) -> float:
        """Return μ⁻¹(mean)."""


class Linear(Link):
    """μ(z) = z."""

    name = "linear"
    lipschitz = 1.0
    binary = False

    @staticmethod
    def mean(z: float) -> float:
        """Return z."""
        return z

    @staticmethod
    def slope(z: float) -> float:  # noqa: ARG004
        """Return 1."""
        return 1.0

    @staticmethod
    def inverse(mean: float) -> float:
        """Return the mean itself."""
        return mean


class Logistic(Link):
    """μ(z) = 1/(1 + exp(−z))."""

    name = "logistic"
    lipschitz = 0.25

    @staticmethod
    def mean(z: float) -> float:
        """Return 1/(1 + exp(−z)) without overflow on either side."""
        e = math.exp(-abs(z))
        return 1.0 / (1.0 + e) if z >= 0.0 else e / (1.0 + e)

    @staticmethod
    def slope(z: float) -> float:
        """Return μ(z)(1 − μ(z)), accurate in both tails."""
        e = math.exp(-abs(z))
        return e / ((1.0 + e) * (1.0 + e))

    @staticmethod
    def inverse(mean: float) -> float:
        """Return log(mean/(1 − mean))."""
        return math.log(mean) - math.log1p(-mean)


class Probit(Link):
    """μ(z) = Φ(z), the standard normal distribution function."""

    name = "probit"
    lipschitz = 1.0 / _SQRT2PI

    @staticmethod
    def mean(z: float) -> float:
        """Return Φ(z), accurate in the lower tail."""
        return 0.5 * math.erfc(-z / _SQRT2)

    @staticmethod
    def slope(z: float) -> float:
        """Return the normal density φ(z)."""
        return math.exp(-0.5 * z * z) / _SQRT2PI

    @staticmethod
    def inverse(mean: float) -> float:
        """Return Φ⁻¹(mean)."""
        return float(ndtri(mean))


LINKS: dict[str, Link] = {link.name: link for link in (Linear(), Logistic(), Probit())}


def get_link(link: str | Link) -> Link:
    """Return the link of that name; a Link passes through."""
    if isinstance(link, Link):
        return link
    if link not in LINKS:
        raise ValueError(f"unknown link {link!r}{closest(link, LINKS)}")
    return LINKS[link]

"""The six baselines of Section 8, in the paper's order."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from pipeline.core.methods.base import Method, register


@register
@dataclass(frozen=True)
class Greedy(Method):
    """Add nothing."""

    name = "greedy"
    has_alpha = False

    @staticmethod
    def bonus(t: float, alpha: float, score: float, width: float, draws: Any) -> float:
        """Return 0."""
        return 0.0


@register
@dataclass(frozen=True)
class EpsGreedy(Method):
    """With probability min(1, alpha/√t) toss a fair coin, else be greedy."""

    name = "eps_greedy"
    n_draws = 2

    @staticmethod
    def bonus(t: float, alpha: float, score: float, width: float, draws: Any) -> float:
        """Return ±∞ when the coin decides, else 0."""
        if draws[0] < alpha / math.sqrt(t):
            return math.inf if draws[1] < 0.5 else -math.inf
        return 0.0


@register
@dataclass(frozen=True)
class OsEpsGreedy(Method):
    """With probability min(1, alpha/√t) accept, else be greedy.

    The idea is that of Helmbold, Littlestone & Long (2000), "Apple tasting".
    """

    name = "os_eps_greedy"
    n_draws = 1

    @staticmethod
    def bonus(t: float, alpha: float, score: float, width: float, draws: Any) -> float:
        """Return ∞ when chance accepts, else 0."""
        return math.inf if draws[0] < alpha / math.sqrt(t) else 0.0


@register
@dataclass(frozen=True)
class Noise(Method):
    """Add alpha·u/√t with u uniform on [−½, ½]."""

    name = "noise"
    n_draws = 1

    @staticmethod
    def bonus(t: float, alpha: float, score: float, width: float, draws: Any) -> float:
        """Return alpha·(draw − ½)/√t."""
        return float(alpha * (draws[0] - 0.5) / math.sqrt(t))


@register
@dataclass(frozen=True)
class OsNoise(Method):
    """Add alpha·u/√t with u uniform on [0, 1]."""

    name = "os_noise"
    n_draws = 1

    @staticmethod
    def bonus(t: float, alpha: float, score: float, width: float, draws: Any) -> float:
        """Return alpha·draw/√t."""
        return float(alpha * draws[0] / math.sqrt(t))


@register
@dataclass(frozen=True)
class Margin(Method):
    """Add alpha/√t to every score."""

    name = "margin"

    @staticmethod
    def bonus(t: float, alpha: float, score: float, width: float, draws: Any) -> float:
        """Return alpha/√t."""
        return alpha / math.sqrt(t)

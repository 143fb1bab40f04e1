"""ε-greedy: decide at random now and then (Section 8, baseline 2)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from pipeline.core.methods.base import Method, register


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

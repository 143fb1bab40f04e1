"""One-sided ε-greedy: accept at random now and then (Section 8, baseline 3).

The idea is that of Helmbold, Littlestone & Long (2000), "Apple tasting".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from pipeline.core.methods.base import Method, register


@register
@dataclass(frozen=True)
class OsEpsGreedy(Method):
    """With probability min(1, alpha/√t) accept, else be greedy."""

    name = "os_eps_greedy"
    n_draws = 1

    @staticmethod
    def bonus(t: float, alpha: float, score: float, width: float, draws: Any) -> float:
        """Return ∞ when chance accepts, else 0."""
        return math.inf if draws[0] < alpha / math.sqrt(t) else 0.0

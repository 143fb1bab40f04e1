"""Noise: shake the score (Section 8, baseline 4)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from pipeline.core.methods.base import Method, register


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

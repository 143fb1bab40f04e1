"""Ours: the adaptive rule, Algorithm 2; ``ours_theory`` has the constants of its proof."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from pipeline.core.methods.base import Method, register


@register
@dataclass(frozen=True)
class Ours(Method):
    """Add alpha·sqrt(x'A⁻¹x), with a constant alpha, as the experiments do."""

    name = "ours"
    uses_width = True

    @staticmethod
    def bonus(t: float, alpha: float, score: float, width: float, draws: Any) -> float:
        """Return alpha·width."""
        return alpha * width


@register
@dataclass(frozen=True)
class OursLog(Method):
    """Add alpha·sqrt(log t)·sqrt(x'A⁻¹x): alpha holds the constants, and grows as ρ_t does."""

    name = "ours_log"
    uses_width = True

    @staticmethod
    def bonus(t: float, alpha: float, score: float, width: float, draws: Any) -> float:
        """Return alpha·sqrt(log t)·width."""
        return alpha * math.sqrt(math.log(t)) * width

"""Ours with the growth of ρ_t: alpha·sqrt(log t)·width (Algorithm 2, constants in alpha)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from pipeline.core.methods.base import Method, register


@register
@dataclass(frozen=True)
class OursLog(Method):
    """Add alpha·sqrt(log t)·sqrt(x'A⁻¹x)."""

    name = "ours_log"
    uses_width = True

    @staticmethod
    def bonus(t: float, alpha: float, score: float, width: float, draws: Any) -> float:
        """Return alpha·sqrt(log t)·width."""
        return alpha * math.sqrt(math.log(t)) * width

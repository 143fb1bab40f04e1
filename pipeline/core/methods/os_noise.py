"""One-sided noise: shake the score upwards (Section 8, baseline 5)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from pipeline.core.methods.base import Method, register


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

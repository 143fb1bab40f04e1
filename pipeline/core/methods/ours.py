"""Ours: the adaptive rule, with a constant alpha (Algorithm 2 as the experiments run it)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pipeline.core.methods.base import Method, register


@register
@dataclass(frozen=True)
class Ours(Method):
    """Add alpha·sqrt(x'A⁻¹x)."""

    name = "ours"
    uses_width = True

    @staticmethod
    def bonus(t: float, alpha: float, score: float, width: float, draws: Any) -> float:
        """Return alpha·width."""
        return alpha * width

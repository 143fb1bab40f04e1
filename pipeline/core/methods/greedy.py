"""Greedy: trust the fit (Section 8, baseline 1)."""

from __future__ import annotations

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

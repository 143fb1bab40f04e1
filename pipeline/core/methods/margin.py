"""Margin: the same bonus for every row, whatever is known of it (Section 8, baseline 6)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from pipeline.core.methods.base import Method, register


@register
@dataclass(frozen=True)
class Margin(Method):
    """Add alpha/√t to every score."""

    name = "margin"

    @staticmethod
    def bonus(t: float, alpha: float, score: float, width: float, draws: Any) -> float:
        """Return alpha/√t."""
        return alpha / math.sqrt(t)

"""A method as somebody else would write it: one file, a parameter of its own, draws and width.

The tests copy this file to a folder of their own and load it from there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from pipeline.core.methods.base import Bonus, Method, register


@register
@dataclass(frozen=True)
class Impulsive(Method):
    """Add alpha·width with probability 1/t^decay."""

    name = "impulsive"
    n_draws = 1
    uses_width = True
    decay: float = 0.25

    @property
    def bonus(self) -> Bonus:
        """Return the bonus as a closure over the decay."""
        decay = self.decay

        def bonus(t: float, alpha: float, score: float, width: float, draws: Any) -> float:  # noqa: ARG001
            return alpha * width if draws[0] < math.pow(t, -decay) else 0.0

        return bonus

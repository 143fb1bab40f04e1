"""The alternative greedy rule: minimise the empirical one-sided loss itself (Section 5, App. B)."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

from pipeline.core.methods.base import Method, Setting, register
from pipeline.core.methods.erm.model import LeastLoss
from pipeline.core.models.base import Model, ModelSpec

# A learner asks for the coefficient, which depends on the setting, right before it asks for the
# model, which does not: the cutoff is handed from the one to the other, in each thread apart.
_HANDED = threading.local()


@register
@dataclass(frozen=True)
class Erm(Method):
    """Add nothing to the score of the β with the least loss on the rows accepted so far."""

    name = "erm"
    has_alpha = False

    @staticmethod
    def bonus(t: float, alpha: float, score: float, width: float, draws: Any) -> float:
        """Return 0."""
        return 0.0

    def coefficient(self, alpha: float, setting: Setting) -> float:
        """Return alpha, which is not used."""
        _HANDED.setting = setting
        return alpha

    def make_model(self, spec: ModelSpec) -> Model:
        """Return a model that minimises the one-sided loss."""
        return LeastLoss(spec, vars(_HANDED).pop("setting", None))

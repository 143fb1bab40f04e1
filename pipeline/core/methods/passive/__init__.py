"""The passive learner (Algorithm 1): observe K + S rows, choose a rule once, never learn again.

``passive`` enumerates every decision pattern on the first K rows, as printed. That is possible in
few dimensions only; ``passive_cover`` takes some patterns at random instead. It is an
approximation, and has a name of its own so that every table and picture says so.
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass
from typing import Any, ClassVar

from pipeline.core.methods.base import Method, Setting, register
from pipeline.core.methods.passive.model import FixedRule
from pipeline.core.methods.passive.patterns import AllPatterns, Patterns, SomePatterns
from pipeline.core.models.base import Model, ModelSpec

# A learner asks for the coefficient, which depends on the setting, right before it asks for the
# model, which does not: the cutoff is handed from the one to the other, in each thread apart.
_HANDED = threading.local()


@register
@dataclass(frozen=True)
class Passive(Method):
    """Accept everything until K + S labels are seen, then follow the rule that fits them best.

    Attributes:
        horizon: T, the number of rows to decide on; K = ⌈T^⅓⌉ and S = ⌈T^⅔⌉ (Proposition 1).
    """

    name = "passive"
    uses_width = True
    accepts_ties = True
    has_alpha = False
    approximate: ClassVar[bool] = False
    horizon: int = 10_000

    def __post_init__(self) -> None:
        """Refuse a horizon that is none."""
        _check(self, "horizon", least=1)

    @property
    def discretization_size(self) -> int:
        """K: rows whose decision patterns make the finite class."""
        return _cube_root(self.horizon)

    @property
    def exploration_size(self) -> int:
        """S: further rows to choose from the class by."""
        return _cube_root(self.horizon**2)

    @staticmethod
    def bonus(t: float, alpha: float, score: float, width: float, draws: Any) -> float:
        """Return the width: ∞ while rows are observed, 0 once the rule is chosen."""
        return width

    def coefficient(self, alpha: float, setting: Setting) -> float:
        """Return alpha, which is not used."""
        _HANDED.setting = setting
        return alpha

    def patterns(self) -> Patterns:
        """Return what builds the finite class."""
        return AllPatterns()

    def make_model(self, spec: ModelSpec) -> Model:
        """Return a model that chooses its coefficients once."""
        setting = vars(_HANDED).pop("setting", None)
        sizes = self.discretization_size, self.exploration_size
        return FixedRule(spec, setting, *sizes, self.patterns())


@register
@dataclass(frozen=True)
class PassiveCover(Passive):
    """Passive with patterns drawn at random: an approximation for any number of columns.

    Attributes:
        n_patterns: how many patterns are drawn.
        cover_seed: of these draws.
    """

    name = "passive_cover"
    approximate = True
    n_patterns: int = 2000
    cover_seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what cannot be counted."""
        super().__post_init__()
        _check(self, "n_patterns", least=1)
        _check(self, "cover_seed", least=0)

    def patterns(self) -> Patterns:
        """Return what draws some of the class."""
        return SomePatterns(self.n_patterns, self.cover_seed)


def _cube_root(n: int) -> int:
    """Return the least k with k³ ≥ n."""
    near = int(math.cbrt(n))
    return next(k for k in range(near, near + 3) if k**3 >= n)


def _check(method: Method, name: str, least: int) -> None:
    value = getattr(method, name)
    if not (math.isfinite(value) and value == int(value) and value >= least):
        raise ValueError(f"{method.name}: {name} must be a whole number >= {least}, got {value!r}")

"""What a method is: a bonus added to the score before it meets the cutoff.

To add one, write a file with one small class and decorate it with :func:`register`::

    @register
    @dataclass(frozen=True)
    class Halving(Method):
        name = "halving"

        @staticmethod
        def bonus(t, alpha, score, width, draws):
            return alpha / t

The bonus is compiled, so it may use numbers and ``math`` only. A method with parameters of its own
declares them as dataclass fields and returns the bonus from a property, as a closure over them.
"""

from __future__ import annotations

import math
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from pipeline.core.links import Link
from pipeline.core.models.base import Model, ModelSpec

Bonus = Callable[[float, float, float, float, Any], float]


@dataclass(frozen=True)
class Setting:
    """What a method may know about the problem before the stream starts.

    ``cutoff`` is on the score scale; ``contrast`` tells whether that is 2μ − ½.
    """

    link: Link
    n_columns: int
    cutoff: float
    contrast: bool = False


@dataclass(frozen=True)
class Method(ABC):
    """A rule for one-sided feedback: accept when score + bonus > cutoff.

    Attributes:
        name: how configs, tables and figures call it.
        n_draws: uniform draws on [0, 1) each example needs.
        uses_width: whether the bonus reads the width; it is NaN otherwise.
        accepts_ties: whether score + bonus = cutoff is accepted.
        has_alpha: whether there is an alpha to tune.
    """

    name: ClassVar[str]
    n_draws: ClassVar[int] = 0
    uses_width: ClassVar[bool] = False
    accepts_ties: ClassVar[bool] = False
    has_alpha: ClassVar[bool] = True

    @staticmethod
    @abstractmethod
    def bonus(t: float, alpha: float, score: float, width: float, draws: Any) -> float:
        """Return what is added to the score at time t (from 1)."""

    def coefficient(self, alpha: float, setting: Setting) -> float:  # noqa: ARG002
        """Return what the bonus receives as alpha."""
        return alpha

    def make_model(self, spec: ModelSpec) -> Model:
        """Return the model that scores for this method."""
        from pipeline.core.models.glm import GLM  # compiles: only when a model is wanted

        return GLM(spec)


# A learner asks for the coefficient, which depends on the setting, right before it asks for the
# model, which does not: the cutoff is handed from the one to the other, in each thread apart.
_HANDED = threading.local()


class CutoffMethod(Method):
    """A method without an alpha whose model must know the cutoff."""

    has_alpha = False

    def coefficient(self, alpha: float, setting: Setting) -> float:
        """Return alpha, which is not used."""
        _HANDED.cutoff = setting.cutoff
        return alpha

    def handed_cutoff(self) -> float | None:
        """Return the cutoff for a model to be made; None where no coefficient was asked for."""
        cutoff: float | None = vars(_HANDED).pop("cutoff", None)
        return cutoff


def check_number(
    method: Method, name: str, *, least: int | None = None, whole: bool = False
) -> None:
    """Refuse a parameter that is no finite number above 0, or from ``least`` on."""
    value = getattr(method, name)
    fits = value > 0 if least is None else value >= least
    if not (math.isfinite(value) and fits and (value == int(value) or not whole)):
        bound = "a positive number" if least is None else f"a {'whole ' * whole}number >= {least}"
        raise ValueError(f"{method.name}: {name} must be {bound}, got {value!r}")


REGISTRY: dict[str, type[Method]] = {}
M = TypeVar("M", bound=type[Method])


def register(method: M) -> M:
    """Make a method known by its name."""
    known = REGISTRY.get(method.name)
    if known is not None and known.__module__ != method.__module__:
        raise ValueError(f"method {method.name!r} is defined in {known.__module__} already")
    REGISTRY[method.name] = method
    return method

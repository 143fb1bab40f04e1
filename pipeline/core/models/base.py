"""What a model offers to the learner and the engine: fit, score, width, update."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from numbers import Real
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from pipeline.core.kernels.rows import FloatArray
from pipeline.core.links import Linear, Link
from pipeline.core.near_misses import closest

ScoreScale = Literal["mean", "contrast"]
Growth = Literal["label", "acceptance"]


@dataclass(frozen=True)
class ModelSpec:
    """Settings of a model.

    Attributes:
        link: how x'β becomes a mean.
        l2: ridge penalty ½·l2·‖β‖² on the summed loss (scikit-learn's C = 1/l2).
        fit_intercept: whether a constant column is added.
        penalize_intercept: whether the ridge acts on it.
        score: ``"mean"`` for μ, ``"contrast"`` for 2μ − ½.
        grow: when A grows: with the ``"label"``, or at ``"acceptance"`` (Algorithm 2).
    """

    link: Link = field(default_factory=Linear)
    l2: float = 1.0
    fit_intercept: bool = True
    penalize_intercept: bool = True
    score: ScoreScale = "mean"
    grow: Growth = "label"

    def __post_init__(self) -> None:
        """Refuse settings that mean nothing."""
        if not (isinstance(self.l2, Real) and np.isfinite(self.l2) and self.l2 >= 0):
            raise ValueError(f"l2 must be a finite number >= 0, got {self.l2!r}")
        for name, known in (("score", ("mean", "contrast")), ("grow", ("label", "acceptance"))):
            value = getattr(self, name)
            if value not in known:
                raise ValueError(f"unknown {name} {value!r}{closest(value, known)}")

    def penalty(self, n_features: int) -> FloatArray:
        """Return the diagonal of the ridge, the constant column last."""
        penalty = np.full(n_features + self.fit_intercept, float(self.l2))
        if self.fit_intercept and not self.penalize_intercept:
            penalty[-1] = 0.0
        return penalty


class Model(ABC):
    """A model learns from labelled rows and scores others; it never meets an unseen label."""

    @abstractmethod
    def fit(self, X: FloatArray, y: FloatArray) -> None:
        """Learn the warm start."""

    @abstractmethod
    def score(self, X: FloatArray) -> FloatArray:
        """Return the score of each row, on the scale of the cutoff."""

    @abstractmethod
    def width(self, X: FloatArray) -> FloatArray:
        """Return how uncertain each score is, ≥ 0."""

    @abstractmethod
    def update(self, X: FloatArray, y: FloatArray) -> None:
        """Learn rows whose labels have arrived."""

    def accept(self, X: FloatArray) -> None:  # noqa: B027
        """Note rows that were accepted, before their labels are there."""

    def forget(self, waiting: FloatArray) -> None:  # noqa: B027
        """Note that accepted rows were given up; only ``waiting`` still expect a label."""

    @abstractmethod
    def state(self) -> dict[str, NDArray[np.generic]]:
        """Return arrays from which :meth:`restore` continues bit by bit."""

    @abstractmethod
    def restore(self, state: dict[str, NDArray[np.generic]]) -> None:
        """Take up the state of another model of the same settings."""


class BetaModel(Model):
    """Scores μ(x'β) in numpy; how β is found, and how wide the score is, is left to others.

    Attributes:
        beta: the coefficients, that of the constant column last.
    """

    def __init__(self, spec: ModelSpec) -> None:
        self.spec = spec
        self.beta = np.zeros(0)
        self._mean = np.vectorize(spec.link.mean, otypes=[np.float64])

    @property
    def coef_(self) -> FloatArray:
        """Coefficients of the features."""
        return self.beta[:-1].copy() if self.spec.fit_intercept else self.beta.copy()

    @property
    def intercept_(self) -> float:
        """Coefficient of the constant column, 0 without one."""
        return float(self.beta[-1]) if self.spec.fit_intercept else 0.0

    def columns(self, X: FloatArray) -> FloatArray:
        """Return X with the constant column, if there is to be one."""
        return np.column_stack([X, np.ones(len(X))]) if self.spec.fit_intercept else X

    def score(self, X: FloatArray) -> FloatArray:
        """Return μ(x'β), or 2μ − ½ on the contrast scale."""
        # einsum adds up each row by itself: a row's score does not depend on its batch
        mean: FloatArray = self._mean(np.einsum("ij,j->i", self.columns(X), self.beta))
        return 2.0 * mean - 0.5 if self.spec.score == "contrast" else mean


class CutoffModel(BetaModel):
    """Finds β by what it decides: only the side of z = μ⁻¹(c) on which x'β lies matters.

    Attributes:
        owner: what asks for it, for the words of an error.
        cutoff: c on the score scale; None until the model is put to work.
    """

    owner: ClassVar[str]

    def __init__(self, spec: ModelSpec, cutoff: float | None) -> None:
        super().__init__(spec)
        self.cutoff = cutoff

    def mean_cutoff(self) -> float:
        """Return c on the scale of the mean."""
        if self.cutoff is None:
            raise RuntimeError(f"{self.owner} needs the cutoff: use it in a OneSidedLearner")
        return (self.cutoff + 0.5) / 2.0 if self.spec.score == "contrast" else self.cutoff

    def has_choice(self) -> bool:
        """Tell whether β matters: a mean between 0 and 1 is always above a cutoff below 0."""
        return not self.spec.link.binary or 0.0 < self.mean_cutoff() < 1.0

    def threshold(self) -> float:
        """Return z = μ⁻¹(c): μ(x'β) ≥ c where x'β ≥ z."""
        return float(self.spec.link.inverse(self.mean_cutoff()))

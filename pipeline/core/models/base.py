"""What a model offers to the learner and the engine: fit, score, width, update."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from numbers import Real
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from pipeline.core.kernels.lane import BAD_FEATURE, Rule
from pipeline.core.kernels.rows import FloatArray
from pipeline.core.kernels.streaming import LARGEST, judge_scores
from pipeline.core.links import Linear, Link
from pipeline.core.near_misses import closest

ScoreScale = Literal["mean", "contrast"]
Growth = Literal["label", "acceptance"]
# How judging went (see kernels.lane), the scores, the bonuses, and which rows are accepted.
Judged = tuple[int, FloatArray, FloatArray, NDArray[np.bool_]]


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
        refit_every: how many new labels it takes to find β anew, for links that refit.
    """

    link: Link = field(default_factory=Linear)
    l2: float = 1.0
    fit_intercept: bool = True
    penalize_intercept: bool = True
    score: ScoreScale = "mean"
    grow: Growth = "label"
    refit_every: int = 1

    def __post_init__(self) -> None:
        """Refuse settings that mean nothing."""
        if not (isinstance(self.l2, Real) and np.isfinite(self.l2) and self.l2 >= 0):
            raise ValueError(f"l2 must be a finite number >= 0, got {self.l2!r}")
        for name, known in (("score", ("mean", "contrast")), ("grow", ("label", "acceptance"))):
            value = getattr(self, name)
            if value not in known:
                raise ValueError(f"unknown {name} {value!r}{closest(value, known)}")
        if not isinstance(self.refit_every, int | np.integer) or self.refit_every < 1:
            raise ValueError(f"refit_every must be an integer >= 1, got {self.refit_every!r}")

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

    def judge(
        self, X: FloatArray, round_: int, first: int, rule: Rule, bonus: int, draws: FloatArray
    ) -> Judged:
        """Decide on a batch: round ``round_``, from example ``first`` on (both from 0).

        Args:
            X: the rows.
            round_: number of the round.
            first: number of the first row among all rows ever seen.
            rule: the method at work.
            bonus: address of its bonus function.
            draws: room for the draws of one row.
        """
        if not (np.abs(X) <= LARGEST).all():
            empty = np.empty(0)
            return BAD_FEATURE, empty, empty, empty.astype(np.bool_)
        score = self.score(X)
        width = self.width(X) if rule.uses_width else np.full(len(X), np.nan)
        extra, accepted = np.empty(len(X)), np.zeros(len(X), dtype=np.bool_)
        status = judge_scores(score, width, round_, first, rule, bonus, draws, extra, accepted)
        self.accept(X[accepted])
        return status, score, extra, accepted

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
        self._mean = np.vectorize(spec.link.mean, otypes=[np.float64])
        self.start(0)

    def start(self, n_columns: int) -> None:
        """Forget all that was learned."""
        self.beta = np.zeros(n_columns)

    def fit(self, X: FloatArray, y: FloatArray) -> None:
        """Start anew from β = 0 and learn the warm start as any other rows."""
        self.start(X.shape[1] + self.spec.fit_intercept)
        self.update(X, y)

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

    It remembers rows and labels, in arrays that double when full.

    Attributes:
        owner: what asks for it, for the words of an error.
        cutoff: c on the score scale; None until the model is put to work.
    """

    owner: ClassVar[str]

    def __init__(self, spec: ModelSpec, cutoff: float | None) -> None:
        super().__init__(spec)
        self.cutoff = cutoff

    def start(self, n_columns: int) -> None:
        """Forget all that was learned."""
        super().start(n_columns)
        self._X, self._y, self._n = np.empty((0, n_columns)), np.empty(0), 0

    @property
    def remembered(self) -> tuple[FloatArray, FloatArray]:
        """Rows with their constant column, and labels."""
        return self._X[: self._n], self._y[: self._n]

    def remember(self, X: FloatArray, y: FloatArray) -> None:
        """Append rows and labels."""
        n = self._n + len(y)
        if n > len(self._y):
            room = max(n, 2 * len(self._y))
            self._X, self._y = np.resize(self._X, (room, len(self.beta))), np.resize(self._y, room)
        self._X[self._n : n], self._y[self._n : n] = self.columns(X), y
        self._n = n

    def state(self) -> dict[str, NDArray[np.generic]]:
        """Return the rows remembered, β and the cutoff."""
        X, y = self.remembered
        arrays = {"X": X, "y": y, "beta": self.beta, "cutoff": self.cutoff}
        return {name: np.array(array) for name, array in arrays.items()}

    def restore(self, state: dict[str, NDArray[np.generic]]) -> None:
        """Take up saved arrays."""
        X, y, beta = (np.array(state[name], dtype=np.float64) for name in ("X", "y", "beta"))
        if X.shape != (len(y), len(beta)) or y.ndim != 1:
            raise ValueError(f"X has shape {X.shape} where β has {beta.shape}")
        self.start(len(beta))
        self.cutoff, self.beta = float(state["cutoff"]), beta
        self._X, self._y, self._n = X, y, len(y)

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

"""The default model: one GLM for any link."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.core import validation
from pipeline.core.kernels import lane, streaming
from pipeline.core.kernels.inverse import COLUMNS
from pipeline.core.kernels.jit import compile_link, variant
from pipeline.core.kernels.lane import Rule
from pipeline.core.kernels.memory import LinkPointers, Memory, copy_memory, make_memory, state_of
from pipeline.core.kernels.rows import Dense, FloatArray, Rows, dense_rows
from pipeline.core.links import Linear
from pipeline.core.models.base import Judged, Model, ModelSpec
from pipeline.core.models.saved_glm import read_memory, read_rows

NO_OPTIMUM = (
    "the fit has no finite optimum: the classes are separable and l2 = 0, or there is one class "
    "only and the intercept is not penalised; set l2 > 0 and penalize_intercept=True"
)
NOT_FITTED = "the model has not been fitted: call fit(X0, y0) first"
SINGULAR = (
    "A = l2·I + X'X is singular: the warm start does not span all columns and l2 = 0; "
    "set l2 > 0, drop redundant columns or give more rows"
)


class GLM(Model):
    """The β that solves Σ x (y − μ(x'β)) = l2·β, and width sqrt(x'A⁻¹x).

    A = l2·I + Σ x x' over the rows learned, the constant column included. The linear link is
    updated by exact rank-one steps, every other link is refitted to the optimum.

    Attributes:
        link: what the kernels call for the link.
        memory: what the kernels work on.
        seen: the A that grows at acceptance, where it does, as a memory of its own.
    """

    def __init__(self, spec: ModelSpec) -> None:
        self.spec = spec
        self.linear = isinstance(spec.link, Linear)
        self.link: LinkPointers = ()
        if not self.linear:
            self._functions = compile_link(spec.link.mean), compile_link(spec.link.slope)
            self.link = self._functions[0].address, self._functions[1].address
        self._kind = f"{'linear' if self.linear else 'refit'}_{spec.grow}"
        self._judge_rows = variant(streaming.judge_rows, self._kind)
        self._learn_batch = variant(streaming.learn_batch, self._kind)
        self.memory: Memory | None = None
        self.seen: Memory | tuple[()] = ()
        self._X = np.empty((0, 0))
        self._y = np.empty(0)
        self._ids = np.empty(0, dtype=np.int64)
        self._n = 0
        self._beta: FloatArray | None = None

    @property
    def fitted(self) -> Memory:
        """The memory of a model that has learned its warm start."""
        if self.memory is None:
            raise RuntimeError(NOT_FITTED)
        return self.memory

    @property
    def scoring_beta(self) -> FloatArray:
        """The coefficients to score with."""
        return self.beta

    @property
    def beta(self) -> FloatArray:
        """The fitted coefficients."""
        if self._beta is None:
            raise RuntimeError(NOT_FITTED)
        return self._beta

    @property
    def coef_(self) -> FloatArray:
        """Coefficients of the features."""
        beta = self.scoring_beta
        return beta[:-1].copy() if self.spec.fit_intercept else beta.copy()

    @property
    def intercept_(self) -> float:
        """Coefficient of the constant column, 0 without one."""
        return float(self.scoring_beta[-1]) if self.spec.fit_intercept else 0.0

    def fit(self, X: FloatArray, y: FloatArray) -> None:
        """Learn the warm start from scratch."""
        rows = self.rows(X)
        self.fit_rows(rows, len(X), y)
        kept = 0 if self.linear else len(X)
        self._X, self._y, self._n = rows.X[:kept].copy(), y[:kept].copy(), kept
        self._ids = np.arange(kept)

    def fit_rows(self, rows: Rows, n: int, y: FloatArray) -> None:
        """Learn the first ``n`` rows from scratch."""
        penalty = self.spec.penalty(rows.n_columns - self.spec.fit_intercept)
        memory = make_memory(penalty, refits=not self.linear)
        start = variant(lane.warm_start, self.variant_for(rows))
        status = start(memory, self.link, rows, np.arange(n), y)
        if status != lane.DONE:
            raise ValueError(SINGULAR if status == lane.SINGULAR else NO_OPTIMUM)
        self._take(memory, copy_memory(memory) if self.spec.grow == "acceptance" else ())

    def variant_for(self, rows: Rows) -> str:
        """Return the name of the kernels for this model and that layout."""
        return f"{self._kind}_{type(rows).__name__.lower()}"

    def _take(self, memory: Memory, seen: Memory | tuple[()]) -> None:
        self.memory, self.seen, self._beta = memory, seen, state_of(memory).beta

    def rows(self, X: FloatArray) -> Dense:
        """Lay out features for the kernels."""
        return dense_rows(X, constant=self.spec.fit_intercept)

    def judge(
        self, X: FloatArray, round_: int, first: int, rule: Rule, bonus: int, draws: FloatArray
    ) -> Judged:
        """Score, add the bonus and decide in one kernel; where A grows at acceptance, it does."""
        own = (getattr(self.score, "__func__", None), getattr(self.width, "__func__", None))
        if own != (GLM.score, GLM.width):  # a model that is built on this one
            return super().judge(X, round_, first, rule, bonus, draws)
        n = len(X)
        score, extra, accepted = np.empty(n), np.empty(n), np.empty(n, dtype=np.bool_)
        status = self._judge_rows(
            *(self.memory, self.seen, self.link, self.scoring_beta),
            *(X, round_, first, rule, bonus, draws, score, extra, accepted),
        )
        return status, score, extra, accepted

    def score(self, X: FloatArray) -> FloatArray:
        """Return μ(x'β), or 2μ − ½ on the contrast scale."""
        out, contrast = np.empty(len(X)), self.spec.score == "contrast"
        streaming.score_rows(self.fitted, self.link, self.scoring_beta, X, contrast, out)
        return out

    def width(self, X: FloatArray) -> FloatArray:
        """Return sqrt(x'A⁻¹x)."""
        out = np.empty(len(X))
        streaming.width_rows(self.fitted, self.seen, X, out)
        return out

    def update(self, X: FloatArray, y: FloatArray) -> None:
        """Learn rows whose labels have arrived; if there is no optimum, nothing is learned."""
        n_old = self._n
        if n_old + len(X) > len(self._X):
            self._make_room(n_old + len(X))
        status = self._learn_batch(
            *(self.fitted, self.link, X, y, self._X, self._y, self._ids),
            *(n_old, self.spec.refit_every, self.spec.link.binary),
        )
        if status == lane.NOT_CONVERGED:
            raise ValueError(NO_OPTIMUM)
        if status == lane.BAD_LABEL:
            validation.labels(y, len(X), self.spec.link)
        if not self.linear:
            self._n += len(X)

    def _make_room(self, n: int) -> None:
        """Let the arrays of the rows kept for refits double."""
        size = max(n, 2 * len(self._X))
        X, y = np.empty((size, len(self.beta))), np.empty(size)
        X[: self._n], y[: self._n] = self._X[: self._n], self._y[: self._n]
        self._X, self._y, self._ids = X, y, np.arange(size)

    def accept(self, X: FloatArray) -> None:
        """Let A grow if it grows at acceptance."""
        if self.seen:
            streaming.accept_rows(self.fitted, self.seen, X)

    def forget(self, waiting: FloatArray) -> None:
        """Take rows that will never be learned out of A: the learned ones and the waiting stay."""
        if self.seen:
            self.seen = copy_memory(self.fitted)
            streaming.see_rows(self.fitted, self.seen, waiting)

    def state(self) -> dict[str, NDArray[np.generic]]:
        """Return every array a restored model needs."""
        arrays: dict[str, NDArray[Any]] = {"X": self._X[: self._n], "y": self._y[: self._n]}
        parts = {"learned": self.fitted, "seen": self.seen}
        for name, memory in parts.items():
            if memory:
                arrays |= {f"{name}.kept": memory[0], f"{name}.counts": memory[2]}
        return {name: array.copy() for name, array in arrays.items()}

    def restore(self, state: dict[str, NDArray[np.generic]]) -> None:
        """Take up saved arrays, once they are known to make sense."""
        refits, n = not self.linear, len(state["y"])
        memory = read_memory(state, "learned", self.spec, refits, n)
        seen: Memory | tuple[()] = ()
        if self.spec.grow == "acceptance":
            seen = read_memory(state, "seen", self.spec, refits, n)
            if seen[2][COLUMNS] != memory[2][COLUMNS]:
                raise ValueError("'learned' and 'seen' have different columns")
        d = int(memory[2][COLUMNS])
        self._X, self._y = np.empty((0, d)), np.empty(0)
        if refits:
            self._X, self._y = read_rows(state, d, self.spec)
        self._n, self._ids = len(self._X), np.arange(len(self._X))
        self._take(memory, seen)

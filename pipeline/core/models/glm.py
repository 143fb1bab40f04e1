"""The default model: one GLM for any link."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.core.kernels import inverse as inv
from pipeline.core.kernels.jit import compile_link, jit
from pipeline.core.kernels.lane import Kind, State, grow_seen, learn, score_row, warm_start
from pipeline.core.kernels.rows import FloatArray, Rows, dense_rows
from pipeline.core.kernels.solver import copy_fit, make_fit, restore_fit, saved_fit
from pipeline.core.links import Linear
from pipeline.core.models.base import Model, ModelSpec

NO_OPTIMUM = (
    "the fit has no finite optimum: the classes are separable and l2 = 0, or there is one class "
    "only and the intercept is not penalised; set l2 > 0 and penalize_intercept=True"
)


class GLM(Model):
    """The β that solves Σ x (y − μ(x'β)) = l2·β, and width sqrt(x'A⁻¹x).

    A = l2·I + Σ x x' over the rows learned, the constant column included. The linear link is
    updated by exact rank-one steps, every other link is refitted to the optimum.
    """

    def __init__(self, spec: ModelSpec) -> None:
        self.spec = spec
        self.kind = Kind(
            linear=isinstance(spec.link, Linear),
            binary=spec.link.binary,
            contrast=spec.score == "contrast",
            at_acceptance=spec.grow == "acceptance",
        )
        self.mean = compile_link(spec.link.mean)
        self.slope = compile_link(spec.link.slope)
        self._state: State | None = None
        self._X = np.empty((0, 0))
        self._y = np.empty(0)
        self._n = 0

    @property
    def kernel_state(self) -> State:
        """The arrays the kernels work on."""
        if self._state is None:
            raise RuntimeError("the model has not been fitted: call fit(X0, y0) first")
        return self._state

    @property
    def scoring_state(self) -> State:
        """The arrays to score with."""
        return self.kernel_state

    @property
    def coef_(self) -> FloatArray:
        """Coefficients of the features."""
        beta = self.scoring_state.fit.beta
        return beta[:-1].copy() if self.spec.fit_intercept else beta.copy()

    @property
    def intercept_(self) -> float:
        """Coefficient of the constant column, 0 without one."""
        return float(self.scoring_state.fit.beta[-1]) if self.spec.fit_intercept else 0.0

    def fit(self, X: FloatArray, y: FloatArray) -> None:
        """Learn the warm start from scratch."""
        rows = self.rows(X)
        self.fit_rows(rows, len(X), y)
        if not self.kind.linear:
            self._X, self._y, self._n = rows.X.copy(), y.copy(), len(X)

    def fit_rows(self, rows: Rows, n: int, y: FloatArray) -> None:
        """Learn the first ``n`` rows from scratch."""
        penalty = self.spec.penalty(rows.n_columns - self.spec.fit_intercept)
        learned = inv.make_inverse(penalty)
        d = len(penalty)
        state = State(make_fit(penalty), learned, learned, np.zeros(d), np.zeros(d), np.empty(d))
        found = warm_start(state, rows, np.arange(n), y, self.kind, self.mean, self.slope)
        if not found[0]:
            raise ValueError(
                "A = l2·I + X'X is singular: the warm start does not span all columns and l2 = 0; "
                "set l2 > 0, drop redundant columns or give more rows"
            )
        if not found[1]:
            raise ValueError(NO_OPTIMUM)
        self._state = self.copy_state(state)

    def copy_state(self, state: State) -> State:
        """Return an independent copy, with a second A where it grows at acceptance."""
        learned = inv.copy_inverse(state.learned)
        seen = inv.copy_inverse(state.seen) if self.kind.at_acceptance else learned
        sums = (state.moment.copy(), state.carry.copy())
        return State(copy_fit(state.fit), learned, seen, *sums, np.empty_like(state.scratch))

    def rows(self, X: FloatArray) -> Rows:
        """Lay out features for the kernels."""
        return dense_rows(X, constant=self.spec.fit_intercept)

    def score(self, X: FloatArray) -> FloatArray:
        """Return μ(x'β), or 2μ − ½ on the contrast scale."""
        out = np.empty(len(X))
        _score_rows(self.scoring_state, self.rows(X), self.kind, self.mean, out)
        return out

    def width(self, X: FloatArray) -> FloatArray:
        """Return sqrt(x'A⁻¹x)."""
        out = np.empty(len(X))
        _width_rows(self.kernel_state, self.rows(X), out)
        return out

    def update(self, X: FloatArray, y: FloatArray) -> None:
        """Learn rows whose labels have arrived."""
        rows, first = self.rows(X), 0
        if not self.kind.linear:
            first = self._n
            rows, y = self._remember(rows.X, y)
        ids = np.arange(first + len(X))
        arguments = (self.kernel_state, rows, ids, first, len(ids), y)
        if not learn(*arguments, self.kind, self.mean, self.slope, True):
            raise ValueError(NO_OPTIMUM)

    def _remember(self, X: FloatArray, y: FloatArray) -> tuple[Rows, FloatArray]:
        """Append to the rows kept for refits, in arrays that double when full."""
        n = self._n + len(X)
        if n > len(self._X):
            grown = np.empty((max(n, 2 * len(self._X)), X.shape[1]))
            labels = np.empty(len(grown))
            grown[: self._n], labels[: self._n] = self._X[: self._n], self._y[: self._n]
            self._X, self._y = grown, labels
        self._X[self._n : n], self._y[self._n : n] = X, y
        self._n = n
        return dense_rows(self._X), self._y

    def accept(self, X: FloatArray) -> None:
        """Let A grow if it grows at acceptance."""
        if self.kind.at_acceptance:
            rows = self.rows(X)
            for i in range(len(X)):
                grow_seen(self.kernel_state, rows, i)

    def forget(self, waiting: FloatArray) -> None:
        """Take rows that will never be learned out of A: the learned ones and the waiting stay."""
        if self.kind.at_acceptance:
            seen = inv.copy_inverse(self.kernel_state.learned)
            inv.add_rows(seen, self.rows(waiting), np.arange(len(waiting)), 0, len(waiting))
            inv.refactorise(seen)
            self._state = self.kernel_state._replace(seen=seen)

    def state(self) -> dict[str, NDArray[np.generic]]:
        """Return every array a restored model needs."""
        state = self.kernel_state
        arrays: dict[str, NDArray[np.generic]] = {
            "X": self._X[: self._n],
            "y": self._y[: self._n],
            "moment": state.moment,
            "carry": state.carry,
        }
        parts = {"fit": saved_fit(state.fit), "learned": inv.saved_inverse(state.learned)}
        if self.kind.at_acceptance:
            parts["seen"] = inv.saved_inverse(state.seen)
        for part, values in parts.items():
            arrays |= {f"{part}.{name}": array for name, array in values.items()}
        return {name: array.copy() for name, array in arrays.items()}

    def restore(self, state: dict[str, NDArray[np.generic]]) -> None:
        """Take up saved arrays."""
        arrays: dict[str, Any] = {name: array.copy() for name, array in state.items()}

        def part(name: str) -> dict[str, Any]:
            prefix = f"{name}."
            return {key[len(prefix) :]: a for key, a in arrays.items() if key.startswith(prefix)}

        learned = inv.restore_inverse(part("learned"))
        seen = inv.restore_inverse(part("seen")) if self.kind.at_acceptance else learned
        sums = (arrays["moment"], arrays["carry"])
        scratch = np.empty_like(arrays["moment"])
        self._state = State(restore_fit(part("fit")), learned, seen, *sums, scratch)
        self._X, self._y, self._n = arrays["X"], arrays["y"], len(arrays["y"])


@jit
def _score_rows(state, rows, kind, mean, out):
    for i in range(out.shape[0]):
        out[i] = score_row(state, rows, i, kind, mean)


@jit
def _width_rows(state, rows, out):
    for i in range(out.shape[0]):
        out[i] = inv.square_width(state.seen, rows, i) ** 0.5

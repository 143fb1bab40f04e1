"""Logistic link in batches: ours against scikit-learn refitted after every batch.

Ours runs the whole stream, four lanes in a call, which share the preparation of the data as those
of a sweep do, and one lane in a call of its own. A solver of scikit-learn is timed at a few
refits, evenly spread, on the rows observed by then; a warm start begins at the exact optimum of
the round before. The mean cost times the number of refits is its time for the stream.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from rivals.newton import newton_logistic, sigmoid

from benchmarks.report import Row, Target, faster
from benchmarks.sizes import Sizes
from benchmarks.streams import FloatArray, Stream, adult_stream
from benchmarks.timing import cpu_seconds
from pipeline.core.engine import Lane
from pipeline.core.learner import OneSidedLearner

TIGHT, DEFAULT = 1e-10, 1e-4
LANES = 4
# A refit that takes longer than this is timed once.
SLOW = 0.3


@dataclass(frozen=True)
class Solver:
    """A way of calling LogisticRegression."""

    name: str
    tol: float = TIGHT
    sparse: bool = False
    warm: bool = False

    def __str__(self) -> str:
        kind, start = "sparse" if self.sparse else "dense", "warm" if self.warm else "cold"
        tol = "default tol" if self.tol == DEFAULT else f"tol {self.tol:g}"
        return f"scikit-learn {self.name}, {tol}, {kind}, {start} start"

    def model(self, start: FloatArray) -> Any:
        """Return the estimator; if it starts warm, then at these coefficients."""
        from sklearn.linear_model import LogisticRegression

        model = LogisticRegression(
            solver=self.name,
            tol=self.tol,
            warm_start=self.warm,
            fit_intercept=False,
            max_iter=100 if self.tol == DEFAULT else 10_000,
            random_state=0,
        )
        if self.warm:
            model.coef_, model.intercept_ = start[None, :].copy(), np.zeros(1)
        return model


PLAIN = Solver("lbfgs")
SOLVERS = (
    PLAIN,
    Solver("lbfgs", warm=True),
    Solver("lbfgs", sparse=True, warm=True),
    Solver("liblinear", sparse=True),
    Solver("newton-cholesky", 1e-8, sparse=True, warm=True),
    Solver("lbfgs", DEFAULT),
    Solver("liblinear", DEFAULT, sparse=True),
    Solver("newton-cholesky", DEFAULT, sparse=True, warm=True),
)


@dataclass(frozen=True)
class Refit:
    """One refit: its round (from 0), the rows known then, the optimum before, the scores after."""

    round_: int
    known: np.ndarray
    before: FloatArray
    scores: FloatArray


@dataclass(frozen=True)
class BatchRun:
    """Our greedy lane over a stream, and the refits of it at which others are timed."""

    stream: Stream
    batch: int
    lanes: list[Lane]
    accepted: np.ndarray
    refits: list[Refit]

    @property
    def n_refits(self) -> int:
        """Refits of the whole stream."""
        return -(-len(self.accepted) // self.batch)

    def seconds(self, n_lanes: int) -> float:
        """Run ours once more and return how long the whole stream takes a lane."""
        return self.stream.seconds(self.lanes * n_lanes, batch_size=self.batch) / n_lanes


def logistic(sizes: Sizes) -> Iterator[Row]:
    """Greedy over Adult's shape, for every batch size, against every solver."""
    stream = adult_stream(sizes.adult)
    for batch in sizes.batches:
        run = _run(stream, batch, sizes.sampled_refits)
        yield from _rows(run, sizes.repeats)


def _rows(run: BatchRun, repeats: int) -> Iterator[Row]:
    case = f"batch {run.batch}, {run.stream.n_rounds:,} rows, {run.n_refits} refits"
    ours, costs, errors = _measure_all(run, repeats)
    own = _own_error(run)
    for k, solver in enumerate(SOLVERS):
        theirs = costs[k] * run.n_refits
        note = f"score error {errors[k]:.0e}, ours {own:.0e}; {len(run.refits)} refits timed"
        target = Target(100) if solver == PLAIN and run.batch == 1000 else None
        yield faster(case, str(solver), ours[LANES], theirs, target, note)
        if solver == PLAIN:
            yield faster(f"{case}; one lane a call", str(solver), ours[1], theirs, target, note)


def _run(stream: Stream, batch: int, n_sampled: int) -> BatchRun:
    lanes = stream.lanes(["greedy"])
    decisions = stream.simulate(lanes, batch_size=batch, keep_decisions=True).decisions
    assert decisions is not None
    accepted = decisions[0]
    refits = list(_sample(stream, accepted, batch, n_sampled))
    return BatchRun(stream, batch, lanes, accepted, refits)


def _sample(stream: Stream, accepted: np.ndarray, batch: int, n: int) -> Iterator[Refit]:
    """Yield refits in the middle of n equal parts of the stream, with their optima."""
    n_rounds = -(-len(accepted) // batch)
    n = min(n, n_rounds)
    optimum = None
    for round_ in [int((k + 0.5) * n_rounds / n) for k in range(n)]:
        known = _known(stream, accepted[: round_ * batch])
        before = newton_logistic(stream.X[known], stream.y[known], start=optimum)
        known = _known(stream, accepted[: (round_ + 1) * batch])
        optimum = newton_logistic(stream.X[known], stream.y[known], start=before)
        yield Refit(round_, known, before, sigmoid(stream.X @ optimum))


def _known(stream: Stream, accepted: np.ndarray) -> np.ndarray:
    """Return the rows whose labels are known after these decisions."""
    stream_rows = stream.n_initial + np.flatnonzero(accepted)
    return np.concatenate([np.arange(stream.n_initial), stream_rows])


def _measure_all(run: BatchRun, repeats: int) -> tuple[dict[int, float], FloatArray, FloatArray]:
    """Return seconds of ours by lanes in a call, each solver's mean refit and its largest error."""
    ours = {LANES: math.inf, 1: math.inf}
    costs, errors = np.zeros((2, len(SOLVERS), len(run.refits)))
    for r, refit in enumerate(run.refits):
        ours = {n: min(best, run.seconds(n)) for n, best in ours.items()}
        for k, solver in enumerate(SOLVERS):
            costs[k, r], errors[k, r] = _measure(solver, run.stream, refit, repeats)
    return ours, costs.mean(axis=1), errors.max(axis=1)


def _measure(solver: Solver, stream: Stream, refit: Refit, repeats: int) -> tuple[float, float]:
    """Return the best time of one refit and the largest error of its scores."""
    X, y = stream.X[refit.known], stream.y[refit.known]
    if solver.sparse:
        from scipy.sparse import csr_array

        X = csr_array(X)
    best = math.inf
    for _ in range(repeats):
        model = solver.model(refit.before)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what was not reached shows in the error
            best = min(best, cpu_seconds(lambda: model.fit(X, y)))  # noqa: B023 - called at once
        if best > SLOW:
            break
    error = np.max(np.abs(sigmoid(stream.X @ model.coef_[0]) - refit.scores))
    return best, float(error)


def _own_error(run: BatchRun) -> float:
    """Return the largest error of our scores, taken from the streaming learner in the same rounds.

    Engine and learner share their kernels; that their decisions agree is checked on the way.
    """
    stream, batch, n = run.stream, run.batch, run.stream.n_initial
    learner = OneSidedLearner("logistic", "greedy", stream.cutoff, fit_intercept=False)
    learner.fit(stream.X[:n], stream.y[:n])
    optima = {refit.round_: refit.scores for refit in run.refits}
    largest = 0.0
    for round_ in range(max(optima) + 1):
        rows = slice(n + round_ * batch, n + (round_ + 1) * batch)
        decision = learner.decide(stream.X[rows])
        if not np.array_equal(decision.accepted, run.accepted[round_ * batch :][:batch]):
            raise RuntimeError(f"learner and engine disagree in round {round_ + 1}")
        learner.learn(decision.ids, stream.y[rows][decision.accepted])
        if round_ in optima:
            error = np.max(np.abs(learner.predict(stream.X) - optima[round_]))
            largest = max(largest, float(error))
    return largest

"""The engine: many lanes (method × alpha × cutoff × split) over the same streams.

Every lane of a split sees the same rows in the same order. Lanes are independent, so threads
change nothing but the time: a lane's draws hang on what the lane is, not on when it runs.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline.core import loss as loss_
from pipeline.core import validation
from pipeline.core.draws import draw_key
from pipeline.core.jit import compile_bonus
from pipeline.core.lane import NAN_BONUS, NOT_CONVERGED, run_lane
from pipeline.core.learner import OneSidedLearner, TimeUnit, make_rule, nan_bonus
from pipeline.core.methods import Method, Setting, get_method
from pipeline.core.models.base import ModelSpec
from pipeline.core.models.glm import GLM
from pipeline.core.rows import FloatArray, Rows, layout, take

Draws = Literal["fresh", "shared"]
IndexArray = NDArray[np.int64]


@dataclass(frozen=True)
class Split:
    """Which rows are the warm start, and in which order the others arrive."""

    initial: IndexArray
    stream: IndexArray


@dataclass(frozen=True)
class Lane:
    """One online run: a method with its alpha, at a cutoff value, on a split."""

    method: Method
    alpha: float
    cutoff: float
    split: int


@dataclass(frozen=True)
class Simulation:
    """Results, one row a lane, in the order the lanes were given.

    Attributes:
        lanes: what was run.
        loss: R_T, the cumulative one-sided loss.
        rounds: the rounds t at which ``curve`` was taken, the last one included.
        curve: R_t, lanes × rounds.
        counts: rows seen, truly above, accepted, missed, wasted: lanes × groups × 5.
        group_loss: R_T of each group, lanes × groups (one group where none was given).
        n_rounds: T.
        decisions: lanes × examples, if asked for.
    """

    lanes: tuple[Lane, ...]
    loss: FloatArray
    rounds: IndexArray
    curve: FloatArray
    counts: IndexArray
    group_loss: FloatArray
    n_rounds: int
    decisions: NDArray[np.bool_] | None

    @property
    def accepted(self) -> IndexArray:
        """Number of rows each lane accepted."""
        return self._total(loss_.ACCEPTED)

    @property
    def missed(self) -> IndexArray:
        """Number of rows each lane rejected though truly above the cutoff."""
        return self._total(loss_.MISSED)

    @property
    def wasted(self) -> IndexArray:
        """Number of rows each lane accepted though not above the cutoff."""
        return self._total(loss_.WASTED)

    def _total(self, column: int) -> IndexArray:
        total: IndexArray = self.counts[:, :, column].sum(axis=1)
        return total


def grid(
    methods: Iterable[str | Method],
    alphas: Sequence[float],
    cutoffs: Iterable[float],
    n_splits: int,
) -> list[Lane]:
    """Return every combination; a method without an alpha runs once."""
    found = [get_method(method) for method in methods]
    return [
        Lane(method, validation.alpha_value(alpha), validation.cutoff_value(cutoff), split)
        for method, cutoff in itertools.product(found, list(cutoffs))
        for alpha in (alphas if method.has_alpha else (0.0,))
        for split in range(n_splits)
    ]


def lane_key(lane: Lane, seed: int, draws: Draws) -> int:
    """Return the key of a lane's draws: fresh for each method and alpha, or shared in a split."""
    if draws == "shared":
        return draw_key(seed, lane.split)
    return draw_key(seed, lane.split, lane.method.name, float(lane.alpha))


@dataclass(frozen=True)
class _Table:
    """The whole data set, checked, in dataset order."""

    X: FloatArray
    rows: Rows
    y: FloatArray
    truth: FloatArray
    group: IndexArray


@dataclass(frozen=True)
class _Stream:
    """One split made ready: rows in the order they arrive, warm start first."""

    table: _Table
    order: IndexArray
    rows: Rows
    y: FloatArray
    truth: FloatArray
    group: IndexArray
    n_initial: int
    warm: GLM


def simulate(
    X: ArrayLike,
    y: ArrayLike,
    *,
    truth: ArrayLike,
    splits: Sequence[Split],
    lanes: Sequence[Lane],
    spec: ModelSpec | None = None,
    batch_size: int = 1,
    time: TimeUnit = "rounds",
    delay: int = 0,
    draws: Draws = "fresh",
    seed: int = 0,
    group: ArrayLike | None = None,
    n_threads: int = 1,
    curve_points: int = 200,
    keep_decisions: bool = False,
    sparse: bool | None = None,
) -> Simulation:
    """Run lanes over streams of the rows of X and return what each lost.

    Args:
        X: features, one row an example.
        y: labels; only those of initial and of accepted rows are ever read.
        truth: true score of each row (see :func:`pipeline.core.loss.fit_truth`).
        splits: warm start and stream of each split, as row numbers of X.
        lanes: what to run, see :func:`grid`.
        spec: settings of the model.
        batch_size: rows a round.
        time: whether t counts ``"rounds"`` or ``"examples"``.
        delay: how many rounds later labels arrive.
        draws: random draws ``"fresh"`` for each method and alpha, or ``"shared"`` in a split.
        seed: seed of the draws.
        group: group number of each row, from 0, to have results for each group.
        n_threads: lanes that run at the same time.
        curve_points: about how many points of R_t to keep.
        keep_decisions: return every decision.
        sparse: force the sparse or dense layout; by default the share of zeros decides.
    """
    spec = spec or ModelSpec()
    run = _Run(spec, batch_size, time, delay, draws, seed)
    _check_lanes(splits, lanes, run)
    table = _check_table(X, y, truth, group, splits, spec, sparse)
    n_stream, n_groups = len(splits[0].stream), int(table.group.max()) + 1
    result = _empty(lanes, n_stream, run, n_groups, curve_points, keep_decisions)
    lock = threading.Lock()

    @lru_cache(maxsize=max(1, n_threads))
    def prepare(split: int) -> _Stream:
        return _prepare(table, splits[split], spec)

    def work(index: int) -> None:
        with lock:
            stream = prepare(lanes[index].split)
        accepted = run.decisions(lanes[index], stream)
        _record(result, index, accepted, stream, run)

    order = sorted(range(len(lanes)), key=lambda index: lanes[index].split)
    _each(work, order, n_threads)
    return result


def _each(work: Callable[[int], None], order: Sequence[int], n_threads: int) -> None:
    if n_threads == 1:
        for index in order:
            work(index)
        return
    with ThreadPoolExecutor(n_threads) as pool:
        try:
            for done in [pool.submit(work, index) for index in order]:
                done.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


@dataclass(frozen=True)
class _Run:
    """Settings every lane shares."""

    spec: ModelSpec
    batch_size: int
    time: TimeUnit
    delay: int
    draws: Draws
    seed: int

    def decisions(self, lane: Lane, stream: _Stream) -> NDArray[np.bool_]:
        """Run one lane: compiled where the method's model allows, else through the learner."""
        model = lane.method.make_model(self.spec)
        if isinstance(model, GLM) and model.compiled:
            accepted = self._compiled(lane, stream)
        else:
            accepted = self._streamed(lane, stream)
        self._check_labels(lane, stream, accepted)
        return accepted

    def _compiled(self, lane: Lane, stream: _Stream) -> NDArray[np.bool_]:
        warm, n_initial = stream.warm, stream.n_initial
        setting = Setting(self.spec.link, stream.rows.n_columns, lane.cutoff)
        coefficient = lane.method.coefficient(lane.alpha, setting)
        key = lane_key(lane, self.seed, self.draws)
        rule = make_rule(lane.method, coefficient, lane.cutoff, key, self.time)
        accepted = np.zeros(len(stream.y) - n_initial, dtype=np.bool_)
        ids = np.arange(len(stream.y))
        state = warm.copy_state(warm.kernel_state)
        status = run_lane(
            *(stream.rows, stream.y, n_initial, self.batch_size, self.delay),
            *(state, warm.kind, rule, compile_bonus(lane.method.bonus), warm.mean, warm.slope),
            *(np.empty(lane.method.n_draws), ids, accepted),
        )
        if status == NAN_BONUS:
            raise nan_bonus(lane.method, int(np.flatnonzero(accepted).max(initial=0)))
        if status == NOT_CONVERGED:
            raise RuntimeError(f"{lane}: the fit does not converge; is l2 = 0?")
        return accepted

    def _streamed(self, lane: Lane, stream: _Stream) -> NDArray[np.bool_]:
        """Drive the streaming learner over the rounds, handing labels back when they are due."""
        n, size = stream.n_initial, self.batch_size
        learner = OneSidedLearner(
            method=lane.method,
            cutoff=lane.cutoff,
            alpha=lane.alpha,
            time=self.time,
            seed=lane_key(lane, self.seed, self.draws),
            **vars(self.spec),
        )
        X = stream.table.X[stream.order]
        learner.fit(X[:n], stream.y[:n])
        rounds: list[tuple[Any, FloatArray]] = []
        accepted = []
        for first in range(n, len(stream.y), size):
            decision = learner.decide(X[first : first + size])
            accepted.append(decision.accepted)
            rounds.append((decision.ids, stream.y[first : first + size][decision.accepted]))
            if len(rounds) > self.delay:
                learner.learn(*rounds.pop(0))
        return np.concatenate(accepted)

    def _check_labels(self, lane: Lane, stream: _Stream, accepted: NDArray[np.bool_]) -> None:
        """Refuse labels that were learned and should not exist."""
        n_rounds = -(-len(accepted) // self.batch_size)
        learned = accepted[: max(0, n_rounds - self.delay) * self.batch_size]
        used = stream.y[stream.n_initial :][: len(learned)][learned]
        if not np.isfinite(used).all():
            raise ValueError(f"{lane}: an accepted row has no finite label in y")
        if self.spec.link.binary and not np.isin(used, (0.0, 1.0)).all():
            raise ValueError(f"{lane}: labels of the {self.spec.link.name} link must be 0 or 1")


def _prepare(table: _Table, split: Split, spec: ModelSpec) -> _Stream:
    order = np.concatenate([split.initial, split.stream])
    n, stream = len(split.initial), split.stream
    rows, y = take(table.rows, order), table.y[order]
    warm = GLM(spec)
    warm.fit_rows(rows, n, validation.labels(y[:n], n, spec.link))
    return _Stream(table, order, rows, y, table.truth[stream], table.group[stream], n, warm)


def _check_table(
    X: ArrayLike,
    y: ArrayLike,
    truth: ArrayLike,
    group: ArrayLike | None,
    splits: Sequence[Split],
    spec: ModelSpec,
    sparse: bool | None,
) -> _Table:
    matrix = validation.features(X)
    n = len(matrix)
    codes = np.zeros(n, dtype=np.int64) if group is None else np.asarray(group)
    labels, means = np.asarray(y, np.float64), np.asarray(truth, np.float64)
    for name, vector in {"y": labels, "truth": means, "group": codes}.items():
        if vector.shape != (n,):
            raise ValueError(f"{name} must have one entry for each of {n} rows")
    if not np.isfinite(means).all():
        raise ValueError("truth must be finite")
    if not np.issubdtype(codes.dtype, np.integer) or codes.min(initial=0) < 0:
        raise ValueError("group must hold integers from 0")
    for number, split in enumerate(splits):
        rows = np.concatenate([split.initial, split.stream])
        if len(np.unique(rows)) != len(rows) or rows.min() < 0 or rows.max() >= n:
            raise ValueError(f"split {number}: rows must be distinct numbers from 0 to {n - 1}")
    design = layout(matrix, constant=spec.fit_intercept, sparse=sparse)
    return _Table(matrix, design, labels, means, codes.astype(np.int64))


def _check_lanes(splits: Sequence[Split], lanes: Sequence[Lane], run: _Run) -> None:
    if not splits or not lanes:
        raise ValueError("simulate needs at least one split and one lane")
    for number, split in enumerate(splits):
        if len(split.initial) == 0 or len(split.stream) == 0:
            raise ValueError(f"split {number}: warm start and stream must not be empty")
        if len(split.stream) != len(splits[0].stream):
            raise ValueError(f"split {number}: all streams must have the same length")
    for lane in lanes:
        if not 0 <= lane.split < len(splits):
            raise ValueError(f"{lane}: there are only {len(splits)} splits")
        validation.alpha_value(lane.alpha)
        validation.cutoff_value(lane.cutoff)
    if run.batch_size < 1 or run.delay < 0:
        raise ValueError("batch_size must be at least 1 and delay at least 0")
    if run.time not in ("rounds", "examples") or run.draws not in ("fresh", "shared"):
        raise ValueError("time is 'rounds' or 'examples', draws are 'fresh' or 'shared'")


def _empty(
    lanes: Sequence[Lane],
    n_stream: int,
    run: _Run,
    n_groups: int,
    curve_points: int,
    keep_decisions: bool,
) -> Simulation:
    n_rounds = -(-n_stream // run.batch_size)
    rounds = loss_.curve_rounds(n_rounds, curve_points)
    n = len(lanes)
    return Simulation(
        lanes=tuple(lanes),
        loss=np.zeros(n),
        rounds=rounds,
        curve=np.zeros((n, len(rounds))),
        counts=np.zeros((n, n_groups, 5), dtype=np.int64),
        group_loss=np.zeros((n, n_groups)),
        n_rounds=n_rounds,
        decisions=np.zeros((n, n_stream), dtype=np.bool_) if keep_decisions else None,
    )


def _record(
    result: Simulation, index: int, accepted: NDArray[np.bool_], stream: _Stream, run: _Run
) -> None:
    loss_.tally(
        *(accepted, stream.truth, result.lanes[index].cutoff, stream.group, run.batch_size),
        *(result.rounds, result.curve[index], result.counts[index], result.group_loss[index]),
    )
    result.loss[index] = result.curve[index, -1]
    if result.decisions is not None:
        result.decisions[index] = accepted

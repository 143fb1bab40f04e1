"""The engine: many lanes (method × alpha × cutoff × split) over the same streams.

Every lane of a split sees the same rows in the same order. Lanes are independent, so threads
change nothing but the time: a lane's draws hang on what the lane is, not on when it runs.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline.core import loss as loss_
from pipeline.core import validation
from pipeline.core.kernels.jit import compile_bonus, variant
from pipeline.core.kernels.lane import BAD_LABEL, DONE, NAN_BONUS, run_lanes
from pipeline.core.kernels.memory import copy_memory
from pipeline.core.kernels.rows import FloatArray, Rows, layout, take
from pipeline.core.lanes import Draws, IndexArray, Lane, Simulation, Split, grid, lane_key
from pipeline.core.learner import OneSidedLearner, TimeUnit, make_rule
from pipeline.core.links import Link
from pipeline.core.methods import Method, Setting
from pipeline.core.models.base import ModelSpec
from pipeline.core.models.glm import GLM, NO_OPTIMUM

__all__ = ["Lane", "Simulation", "Split", "grid", "lane_key", "make_learner", "simulate"]

# Lanes of one method and split run together in one call of a kernel, up to this many: enough to
# make the call itself cheap, few enough to keep all threads busy to the end.
CHUNK = 16
Decisions = NDArray[np.bool_]


@dataclass(frozen=True)
class _Table:
    """The whole data set, checked, in dataset order."""

    X: FloatArray
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
    n_initial: int
    warm: GLM | None


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
    progress: Callable[[int, int], None] | None = None,
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
        progress: is told now and then how many lanes of how many are done.
    """
    spec = spec or ModelSpec()
    run = _Run(spec, batch_size, time, delay, draws, seed)
    _check_lanes(splits, lanes, run)
    if curve_points < 1:
        raise ValueError(f"curve_points must be at least 1, got {curve_points!r}")
    table = _check_table(X, y, truth, group)
    _check_splits(splits, len(table.y))
    rows = layout(table.X, constant=spec.fit_intercept, sparse=sparse)
    n, n_stream, n_groups = len(lanes), len(splits[0].stream), int(table.group.max()) + 1
    n_rounds = -(-n_stream // batch_size)
    rounds = loss_.curve_rounds(n_rounds, curve_points)
    result = Simulation(
        lanes=tuple(lanes),
        loss=np.zeros(n),
        rounds=rounds,
        curve=np.zeros((n, len(rounds))),
        counts=np.zeros((n, n_groups, 5), dtype=np.int64),
        group_loss=np.zeros((n, n_groups)),
        n_rounds=n_rounds,
        decisions=np.zeros((n, n_stream), dtype=np.bool_) if keep_decisions else None,
    )
    compiles = any(run.can_compile(method) for method in {lane.method for lane in lanes})
    lock, n_done = threading.Lock(), 0

    @lru_cache(maxsize=max(1, n_threads))
    def prepare(split: int) -> _Stream:
        return _prepare(table, rows, splits[split], spec, compiles)

    def work(chunk: list[int]) -> None:
        nonlocal n_done
        with lock:
            stream = prepare(lanes[chunk[0]].split)
        accepted = run.decisions([lanes[index] for index in chunk], stream)
        _record(result, chunk, accepted, stream, run)
        if progress is not None:
            with lock:
                n_done += len(chunk)
                progress(n_done, len(lanes))

    with ThreadPoolExecutor(n_threads) as pool:
        for _ in (map if n_threads == 1 else pool.map)(work, _chunks(lanes)):
            pass  # an error of a chunk is raised here, and the pool drops the chunks that wait
    return result


def _chunks(lanes: Sequence[Lane]) -> Iterator[list[int]]:
    """Yield lanes that run together: of one split and one method, split by split."""
    groups: dict[tuple[int, Method], list[int]] = {}
    for index, lane in enumerate(lanes):
        groups.setdefault((lane.split, lane.method), []).append(index)
    for key in sorted(groups, key=lambda key: key[0]):
        group = groups[key]
        yield from (group[first : first + CHUNK] for first in range(0, len(group), CHUNK))


@dataclass(frozen=True)
class _Run:
    """Settings every lane shares."""

    spec: ModelSpec
    batch_size: int
    time: TimeUnit
    delay: int
    draws: Draws
    seed: int

    def decisions(self, lanes: Sequence[Lane], stream: _Stream) -> Decisions:
        """Run lanes of one method: compiled where its model allows, else through the learner."""
        if self.can_compile(lanes[0].method):
            return self._compiled(lanes, stream)
        return np.array([self._streamed(lane, stream) for lane in lanes])

    def can_compile(self, method: Method) -> bool:
        """Tell whether the method scores with the plain GLM of these very settings."""
        model = method.make_model(self.spec)
        return type(model) is GLM and model.spec == self.spec

    def _compiled(self, lanes: Sequence[Lane], stream: _Stream) -> Decisions:
        warm, method, n = stream.warm, lanes[0].method, stream.n_initial
        assert warm is not None  # prepared where any lane compiles
        n_columns, contrast = stream.rows.n_columns, self.spec.score == "contrast"
        settings = [Setting(self.spec.link, n_columns, lane.cutoff, contrast) for lane in lanes]
        pairs = zip(lanes, settings, strict=True)
        coefficients = np.array([method.coefficient(lane.alpha, known) for lane, known in pairs])
        cutoffs = np.array([lane.cutoff for lane in lanes], dtype=np.float64)
        keys = np.array([lane_key(lane, self.seed, self.draws) for lane in lanes])
        accepted = np.zeros((len(lanes), len(stream.y) - n), dtype=np.bool_)
        status = np.zeros(len(lanes), dtype=np.int64)
        memory, seen = copy_memory(warm.fitted), copy_memory(warm.seen) if warm.seen else ()
        variant(run_lanes, warm.variant_for(stream.rows))(
            *(stream.rows, stream.y, n, self.batch_size, self.delay, self.spec.refit_every),
            *(warm.fitted, memory, seen, warm.link),
            *(make_rule(method, 0.0, 0.0, 0, self.time, self.spec.score), self.spec.link.binary),
            *(coefficients.astype(np.float64), cutoffs, keys, compile_bonus(method.bonus).address),
            *(np.empty(method.n_draws), np.arange(len(stream.y)), accepted, status),
        )
        for lane, code in zip(lanes, status, strict=True):
            if code != DONE:
                raise _failure(lane, int(code), self.spec)
        return accepted

    def _streamed(self, lane: Lane, stream: _Stream) -> Decisions:
        """Drive the streaming learner over the rounds, handing labels back when they are due."""
        n, size = stream.n_initial, self.batch_size
        learner = make_learner(
            lane, seed=self.seed, draws=self.draws, time=self.time, **vars(self.spec)
        )
        X = stream.table.X[stream.order]
        learner.fit(X[:n], stream.y[:n])
        waiting: list[tuple[IndexArray, FloatArray]] = []
        accepted = []
        for first in range(n, len(stream.y), size):
            decision = learner.decide(X[first : first + size])
            accepted.append(decision.accepted)
            waiting.append((decision.ids, stream.y[first : first + size][decision.accepted]))
            if len(waiting) > self.delay:
                try:
                    learner.learn(*waiting.pop(0))
                except ValueError as error:
                    raise ValueError(f"{_name(lane)}: the label of a row: {error}") from None
        return np.concatenate(accepted)


def make_learner(
    lane: Lane, link: str | Link, seed: int = 0, draws: Draws = "fresh", **settings: Any
) -> OneSidedLearner:
    """Return the learner that decides as the engine does in that lane."""
    key = lane_key(lane, seed, draws)
    return OneSidedLearner(link, lane.method, lane.cutoff, lane.alpha, seed=key, **settings)


def _name(lane: Lane) -> str:
    return f"{lane.method.name}, alpha {lane.alpha:g}, cutoff {lane.cutoff:g}, split {lane.split}"


def _failure(lane: Lane, code: int, spec: ModelSpec) -> Exception:
    what = _name(lane)
    if code == NAN_BONUS:
        return ValueError(f"{what}: the bonus is NaN; if it reads the width, set uses_width = True")
    if code == BAD_LABEL:
        kind = "0 or 1" if spec.link.binary else "a finite number"
        return ValueError(f"{what}: the label of an accepted row is not {kind}")
    return ValueError(f"{what}: {NO_OPTIMUM}")


def _prepare(table: _Table, rows: Rows, split: Split, spec: ModelSpec, compiles: bool) -> _Stream:
    order, n = np.concatenate([split.initial, split.stream]), len(split.initial)
    rows, y = take(rows, order), table.y[order]
    warm = GLM(spec) if compiles else None
    if warm is not None:
        warm.fit_rows(rows, n, validation.labels(y[:n], n, spec.link))
    return _Stream(table, order, rows, y, n, warm)


def _check_table(X: ArrayLike, y: ArrayLike, truth: ArrayLike, group: ArrayLike | None) -> _Table:
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
    return _Table(matrix, labels, means, codes.astype(np.int64))


def _check_splits(splits: Sequence[Split], n: int) -> None:
    for number, split in enumerate(splits):
        rows = np.concatenate([split.initial, split.stream])
        if len(split.initial) == 0 or len(split.stream) == 0:
            raise ValueError(f"split {number}: warm start and stream must not be empty")
        if len(split.stream) != len(splits[0].stream):
            raise ValueError(f"split {number}: all streams must have the same length")
        if not np.issubdtype(rows.dtype, np.integer):
            raise ValueError(f"split {number}: rows must be integers, got {rows.dtype}")
        if rows.min() < 0 or rows.max() >= n or len(np.unique(rows)) != len(rows):
            raise ValueError(f"split {number}: rows must be distinct numbers from 0 to {n - 1}")


def _check_lanes(splits: Sequence[Split], lanes: Sequence[Lane], run: _Run) -> None:
    if not splits or not lanes:
        raise ValueError("simulate needs at least one split and one lane")
    for lane in lanes:
        if not 0 <= lane.split < len(splits):
            raise ValueError(f"{lane}: there are only {len(splits)} splits")
        validation.alpha_value(lane.alpha)
        validation.cutoff_value(lane.cutoff)
    if run.batch_size < 1 or run.delay < 0:
        raise ValueError("batch_size must be at least 1 and delay at least 0")
    if run.time not in ("rounds", "examples") or run.draws not in ("fresh", "shared"):
        raise ValueError("time is 'rounds' or 'examples', draws are 'fresh' or 'shared'")


def _record(
    result: Simulation, chunk: list[int], accepted: Decisions, stream: _Stream, run: _Run
) -> None:
    curve, counts = result.curve[chunk], result.counts[chunk]
    group_loss = result.group_loss[chunk]
    cutoffs = np.array([result.lanes[index].cutoff for index in chunk], dtype=np.float64)
    table, ids = stream.table, stream.order[stream.n_initial :]
    loss_.tally_lanes(
        *(accepted, table.truth[ids], cutoffs, table.group[ids], run.batch_size),
        *(result.rounds, curve, counts, group_loss),
    )
    result.curve[chunk], result.counts[chunk] = curve, counts
    result.group_loss[chunk], result.loss[chunk] = group_loss, curve[:, -1]
    if result.decisions is not None:
        result.decisions[chunk] = accepted

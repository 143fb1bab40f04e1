"""A learner for one-sided feedback that people can put into their own system."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline.core import storage, validation
from pipeline.core.kernels.jit import compile_bonus, jit
from pipeline.core.kernels.lane import Rule, bonus_of, passes
from pipeline.core.kernels.rows import FloatArray
from pipeline.core.links import Link, get_link
from pipeline.core.methods import Method, Setting, get_method
from pipeline.core.models.base import Growth, Model, ModelSpec, ScoreScale
from pipeline.core.near_misses import closest

TimeUnit = Literal["rounds", "examples"]
COUNTERS = ("n_rounds_", "n_seen_", "_next_id", "_n_features")


@dataclass(frozen=True)
class Decision:
    """One round: which rows were accepted, and why.

    Attributes:
        accepted: one flag for each row of the batch.
        ids: one id for each accepted row, in order, to hand back with its label.
        score: the model's score of each row.
        bonus: what the method added; ±inf where chance alone decided.
    """

    accepted: NDArray[np.bool_]
    ids: NDArray[np.int64]
    score: FloatArray
    bonus: FloatArray


class OneSidedLearner:
    """Decides on batches of rows and learns from the labels of accepted ones only.

    Args:
        link: ``"linear"``, ``"logistic"``, ``"probit"`` or a Link.
        method: a method's name, or a Method with parameters of its own.
        cutoff: value on the score scale; accept when score + bonus exceeds it.
        alpha: how much to explore, ≥ 0.
        l2: ridge penalty, ½·l2·‖β‖² on the summed loss.
        fit_intercept: add a constant column.
        penalize_intercept: let the ridge act on it.
        time: whether t counts ``"rounds"`` (calls of decide) or ``"examples"``.
        score: ``"mean"`` for μ(x'β), ``"contrast"`` for 2μ − ½.
        seed: key of the random draws.
        grow: let A grow with the ``"label"`` or already at ``"acceptance"`` (Algorithm 2).

    Example:
        >>> learner = OneSidedLearner(link="logistic", method="ours", cutoff=0.5, alpha=0.5)
        >>> learner.fit(X0, y0)                                 # doctest: +SKIP
        >>> decision = learner.decide(X)                        # doctest: +SKIP
        >>> learner.learn(decision.ids, labels_of_accepted)     # doctest: +SKIP
    """

    def __init__(
        self,
        link: str | Link = "linear",
        method: str | Method = "ours",
        cutoff: float = 0.5,
        alpha: float = 1.0,
        l2: float = 1.0,
        fit_intercept: bool = True,
        penalize_intercept: bool = True,
        time: TimeUnit = "rounds",
        score: ScoreScale = "mean",
        seed: int = 0,
        grow: Growth = "label",
    ) -> None:
        self.method = get_method(method)
        self.cutoff = validation.cutoff_value(cutoff)
        self.alpha = validation.alpha_value(alpha)
        if time not in ("rounds", "examples"):
            raise ValueError(f"unknown time {time!r}{closest(time, ('rounds', 'examples'))}")
        if not (isinstance(seed, int | np.integer) and 0 <= seed < 2**63):
            raise ValueError(f"seed must be an integer from 0 to 2**63 - 1, got {seed!r}")
        self.time: TimeUnit = time
        self.seed = int(seed)
        self.spec = ModelSpec(get_link(link), l2, fit_intercept, penalize_intercept, score, grow)
        self.model: Model = self.method.make_model(self.spec)
        self.n_rounds_ = 0
        self.n_seen_ = 0
        self._n_features: int | None = None
        self._next_id = 0
        self._waiting: dict[int, FloatArray] = {}
        self._bonus = compile_bonus(self.method.bonus)

    @property
    def coef_(self) -> FloatArray:
        """Coefficients of the features."""
        return self._of_model("coef_")  # type: ignore[no-any-return]

    @property
    def intercept_(self) -> float:
        """Coefficient of the constant column, 0 without one."""
        return self._of_model("intercept_")  # type: ignore[no-any-return]

    @property
    def waiting_ids(self) -> NDArray[np.int64]:
        """Ids of accepted rows whose labels have not come yet."""
        return np.array(list(self._waiting), dtype=np.int64)

    def _of_model(self, name: str) -> Any:
        if not hasattr(type(self.model), name):
            raise AttributeError(f"the model of method {self.method.name!r} has no {name}")
        return getattr(self.model, name)

    def fit(self, X0: ArrayLike, y0: ArrayLike) -> OneSidedLearner:
        """Learn a fully labelled warm start, from scratch."""
        X = validation.features(X0)
        y = validation.labels(y0, len(X), self.spec.link)
        if len(X) == 0 or X.shape[1] == 0:
            raise ValueError(f"the warm start is empty: X0 has shape {X.shape}")
        n_columns = X.shape[1] + self.spec.fit_intercept
        contrast = self.spec.score == "contrast"
        setting = Setting(self.spec.link, n_columns, self.cutoff, contrast)
        coefficient = self.method.coefficient(self.alpha, setting)
        model = self.method.make_model(self.spec)
        model.fit(X, y)
        self.model, self._n_features = model, X.shape[1]
        self._rule = make_rule(self.method, coefficient, self.cutoff, self.seed, self.time)
        self.n_rounds_ = self.n_seen_ = self._next_id = 0
        self._waiting = {}
        return self

    def _check_fitted(self) -> int:
        if self._n_features is None:
            raise RuntimeError("the learner has no warm start yet: call fit(X0, y0) first")
        return self._n_features

    def decide(self, X: ArrayLike) -> Decision:
        """Decide on a batch: one round."""
        batch = validation.features(X, self._check_fitted())
        try:
            score, bonus, accepted = self._judge_round(batch)
        except ValueError:
            self._forget_undecided(batch.shape[1])
            raise
        accepted = accepted.astype(bool)
        ids = self._next_id + np.arange(int(accepted.sum()), dtype=np.int64)
        self._waiting |= zip(ids.tolist(), batch[accepted].copy(), strict=True)
        self._next_id += len(ids)
        self.n_rounds_ += 1
        self.n_seen_ += len(batch)
        return Decision(accepted, ids, score, bonus)

    def _judge_round(self, batch: FloatArray) -> tuple[FloatArray, FloatArray, Any]:
        """Judge a batch at once, or row by row where A grows at acceptance."""
        if self.spec.grow == "label":
            return self._judge(batch, 0)
        parts = [self._judge(batch[i : i + 1], i) for i in range(len(batch))]
        score, bonus, accepted = (
            np.concatenate([part[k] for part in parts] or [np.empty(0)]) for k in range(3)
        )
        return score, bonus, accepted

    def _judge(self, X: FloatArray, offset: int) -> tuple[FloatArray, FloatArray, Any]:
        """Score rows, add the bonus, decide, and let A grow if it grows at acceptance."""
        score = self.model.score(X)
        width = self.model.width(X) if self.method.uses_width else np.full(len(X), np.nan)
        bonus, accepted = np.empty(len(X)), np.empty(len(X), dtype=np.bool_)
        first = self.n_seen_ + offset
        draws = np.empty(self.method.n_draws)
        _judge(score, width, self.n_rounds_, first, self._rule, self._bonus, draws, bonus, accepted)
        if np.isnan(bonus).any():
            raise nan_bonus(self.method, self.n_rounds_)
        self.model.accept(X[accepted])
        return score, bonus, accepted

    def learn(self, ids: ArrayLike, y: ArrayLike) -> None:
        """Learn the labels of accepted rows, in any order, any number of rounds later."""
        self._check_fitted()
        wanted = self._known(ids)
        values = validation.labels(y, len(wanted), self.spec.link)
        if len(wanted) == 0:
            return
        self.model.update(np.array([self._waiting[i] for i in wanted]), values)
        for i in wanted:
            del self._waiting[i]

    def forget(self, ids: ArrayLike) -> None:
        """Give up accepted rows whose labels will never come."""
        n_features = self._check_fitted()
        for i in self._known(ids):
            del self._waiting[i]
        self._forget_undecided(n_features)

    def _forget_undecided(self, n_features: int) -> None:
        """Let the model forget every accepted row that does not wait for a label."""
        waiting = list(self._waiting.values())
        self.model.forget(np.array(waiting) if waiting else np.empty((0, n_features)))

    def _known(self, ids: ArrayLike) -> list[int]:
        wanted: list[int] = validation.row_ids(ids).tolist()
        for i in wanted:
            if i not in self._waiting:
                reason = "learned or forgotten already" if 0 <= i < self._next_id else "unknown"
                raise ValueError(
                    f"id {i} is {reason}; only accepted rows still waiting can be used"
                )
        return wanted

    def predict(self, X: ArrayLike) -> FloatArray:
        """Return the scores of rows, without deciding on them."""
        return self.model.score(validation.features(X, self._check_fitted()))

    def width(self, X: ArrayLike) -> FloatArray:
        """Return sqrt(x'A⁻¹x), or what the method's model calls its width."""
        return self.model.width(validation.features(X, self._check_fitted()))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the whole state to one file, without pickle, atomically."""
        n_features = self._check_fitted()
        get_link(self.spec.link.name)  # what cannot be found again by its name is not saved
        get_method(self.method.name)
        settings = {
            "arguments": {
                **{**vars(self.spec), "link": self.spec.link.name},
                **{name: getattr(self, name) for name in ("cutoff", "alpha", "time", "seed")},
            },
            "method": {"name": self.method.name, "parameters": asdict(self.method)},
            "counters": {name: getattr(self, name) for name in COUNTERS},
            "coefficient": self._rule.alpha,
        }
        waiting = list(self._waiting.values())
        arrays = {f"model/{name}": array for name, array in self.model.state().items()}
        arrays["waiting_ids"] = self.waiting_ids
        arrays["waiting_rows"] = np.array(waiting) if waiting else np.empty((0, n_features))
        storage.write(path, settings, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> OneSidedLearner:
        """Read a learner that continues with the very same decisions."""
        settings, arrays = storage.read(path)
        try:
            known = type(get_method(settings["method"]["name"]))
            learner = cls(
                method=known(**_with_tuples(settings["method"]["parameters"])),
                **settings["arguments"],
            )
            learner._resume(settings, arrays)
        except (KeyError, TypeError, AttributeError, IndexError) as error:
            raise storage.not_a_learner(path, error) from None
        return learner

    def _resume(self, settings: dict[str, Any], arrays: storage.Arrays) -> None:
        """Take up what was saved."""
        for name in COUNTERS:
            setattr(self, name, settings["counters"][name])
        coefficient = settings["coefficient"]
        self._rule = make_rule(self.method, coefficient, self.cutoff, self.seed, self.time)
        prefix = "model/"
        self.model.restore(
            {key[len(prefix) :]: a for key, a in arrays.items() if key.startswith(prefix)}
        )
        ids = arrays["waiting_ids"].tolist()
        self._waiting = dict(zip(ids, arrays["waiting_rows"], strict=True))


def _with_tuples(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return parameters as they were before JSON, which knows lists only."""
    return {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in parameters.items()
    }


def make_rule(method: Method, coefficient: float, cutoff: float, key: int, time: TimeUnit) -> Rule:
    """Return what the kernels must know of a method at work."""
    return Rule(
        float(coefficient),
        float(cutoff),
        int(key),
        method.n_draws,
        method.uses_width,
        method.accepts_ties,
        time == "examples",
    )


def nan_bonus(method: Method, round_: int) -> ValueError:
    """Return the error for a bonus that is not a number."""
    return ValueError(
        f"the bonus of method {method.name!r} is NaN in round {round_ + 1}; "
        "if it reads the width, set uses_width = True"
    )


@jit
def _judge(score, width, round_, first, rule, bonus_function, draws, bonus, accepted):
    """Decide on rows whose scores and widths are known; fills ``bonus`` and ``accepted``."""
    for i in range(score.shape[0]):
        bonus[i] = bonus_of(score[i], width[i], round_, first + i, rule, bonus_function, draws)
        accepted[i] = passes(score[i], bonus[i], rule)

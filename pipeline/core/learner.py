"""A learner for one-sided feedback that people can put into their own system."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline.core import storage, validation
from pipeline.core.kernels.jit import compile_bonus
from pipeline.core.kernels.lane import DONE, Rule
from pipeline.core.kernels.rows import FloatArray
from pipeline.core.links import Link, get_link
from pipeline.core.methods import Method, Setting, get_method
from pipeline.core.models.base import CutoffModel, Growth, Model, ModelSpec, ScoreScale
from pipeline.core.near_misses import closest
from pipeline.core.waiting import Waiting

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
        refit_every: links that refit find β anew after so many new labels. With 1 every decision
            is made with the β of all labels; with more, by that of the last refit, and
            :meth:`learn` costs so much less on average. The width follows every label.

    ``cutoff`` and ``alpha`` may be changed at any time; the next decision follows them.

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
        refit_every: int = 1,
    ) -> None:
        self.method = get_method(method)
        self._cutoff = validation.cutoff_value(cutoff)
        self._alpha = validation.alpha_value(alpha)
        if time not in ("rounds", "examples"):
            raise ValueError(f"unknown time {time!r}{closest(time, ('rounds', 'examples'))}")
        if not (isinstance(seed, int | np.integer) and 0 <= seed < 2**63):
            raise ValueError(f"seed must be an integer from 0 to 2**63 - 1, got {seed!r}")
        self.time: TimeUnit = time
        self.seed = int(seed)
        self.spec = ModelSpec(
            get_link(link), l2, fit_intercept, penalize_intercept, score, grow, refit_every
        )
        self.model: Model = self.method.make_model(self.spec)
        self.n_rounds_ = 0
        self.n_seen_ = 0
        self._n_features: int | None = None
        self._next_id = 0
        self._waiting = Waiting()
        self._bonus = compile_bonus(self.method.bonus)
        self._draws = np.empty(self.method.n_draws)

    @property
    def cutoff(self) -> float:
        """The value on the score scale that score + bonus must exceed."""
        return self._cutoff

    @cutoff.setter
    def cutoff(self, cutoff: float) -> None:
        value = validation.cutoff_value(cutoff)
        if self._n_features is not None and isinstance(self.model, CutoffModel):
            raise ValueError(
                f"method {self.method.name!r} has learned for the cutoff {self._cutoff:g}: "
                "make a learner with the new one, and fit it"
            )
        self._cutoff = value
        self._renew_rule()

    @property
    def alpha(self) -> float:
        """How much to explore."""
        return self._alpha

    @alpha.setter
    def alpha(self, alpha: float) -> None:
        self._alpha = validation.alpha_value(alpha)
        self._renew_rule()

    def _renew_rule(self) -> None:
        if self._n_features is not None:
            self._rule = self._rule_for(self._coefficient(self._n_features))

    def _coefficient(self, n_features: int) -> float:
        """Return what the bonus receives as alpha."""
        n_columns, contrast = n_features + self.spec.fit_intercept, self.spec.score == "contrast"
        setting = Setting(self.spec.link, n_columns, self._cutoff, contrast)
        return self.method.coefficient(self._alpha, setting)

    def _rule_for(self, coefficient: float) -> Rule:
        settings = (self._cutoff, self.seed, self.time, self.spec.score)
        return make_rule(self.method, coefficient, *settings)

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
        return self._waiting.ids

    def _of_model(self, name: str) -> Any:
        if not hasattr(type(self.model), name):
            raise AttributeError(f"the model of method {self.method.name!r} has no {name}")
        return getattr(self.model, name)

    def fit(self, X0: ArrayLike, y0: ArrayLike) -> OneSidedLearner:
        """Learn a fully labelled warm start, from scratch; ids of before are forgotten."""
        X = validation.features(X0)
        y = validation.labels(y0, len(X), self.spec.link)
        if len(X) == 0 or X.shape[1] == 0:
            raise ValueError(f"the warm start is empty: X0 has shape {X.shape}")
        coefficient = self._coefficient(X.shape[1])
        model = self.method.make_model(self.spec)
        model.fit(X, y)
        self.model, self._n_features = model, X.shape[1]
        self._rule = self._rule_for(coefficient)
        self.n_rounds_ = self.n_seen_ = 0
        self._waiting = Waiting()
        return self

    def _check_fitted(self) -> int:
        if self._n_features is None:
            raise RuntimeError("the learner has no warm start yet: call fit(X0, y0) first")
        return self._n_features

    def decide(self, X: ArrayLike) -> Decision:
        """Decide on a batch: one round."""
        n_features = self._check_fitted()
        batch: Any = X if _is_table(X, n_features) else validation.features(X, n_features)
        status, score, bonus, accepted = self.model.judge(
            *(batch, self.n_rounds_, self.n_seen_, self._rule, self._bonus.address, self._draws)
        )
        if status != DONE:
            self._forget_undecided()
            validation.features(batch)
            raise nan_bonus(self.method, self.n_rounds_)
        rows = batch[accepted]
        first, self._next_id = self._next_id, self._next_id + len(rows)
        self._waiting.add(first, rows)
        self.n_rounds_ += 1
        self.n_seen_ += len(batch)
        return Decision(accepted, np.arange(first, self._next_id), score, bonus)

    def learn(self, ids: ArrayLike, y: ArrayLike) -> None:
        """Learn the labels of accepted rows, in any order, any number of rounds later.

        If that fails, nothing of it is learned, and the rows still wait.
        """
        self._check_fitted()
        wanted = validation.row_ids(ids)
        values = validation.labels(y, len(wanted), self.spec.link)
        rows = self._rows(wanted)
        if len(wanted):
            self.model.update(rows, values)
            self._waiting.drop(wanted)

    def forget(self, ids: ArrayLike) -> None:
        """Give up accepted rows whose labels will never come."""
        self._check_fitted()
        wanted = validation.row_ids(ids)
        self._rows(wanted)
        self._waiting.drop(wanted)
        self._forget_undecided()

    def _forget_undecided(self) -> None:
        """Let the model forget every accepted row that does not wait for a label."""
        self.model.forget(self._rows(self._waiting.ids))

    def _rows(self, ids: NDArray[np.int64]) -> FloatArray:
        """Return the rows of ids, all of which must wait."""
        try:
            return self._waiting.rows(ids).reshape(len(ids), self._check_fitted())
        except KeyError as error:
            i = error.args[0]
            reason = "learned or forgotten already" if 0 <= i < self._next_id else "unknown"
            raise ValueError(
                f"id {i} is {reason}; only accepted rows still waiting can be used"
            ) from None

    def predict(self, X: ArrayLike) -> FloatArray:
        """Return the scores of rows, without deciding on them."""
        return self.model.score(validation.features(X, self._check_fitted()))

    def width(self, X: ArrayLike) -> FloatArray:
        """Return sqrt(x'A⁻¹x), or what the method's model calls its width."""
        return self.model.width(validation.features(X, self._check_fitted()))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the whole state to one file, without pickle, atomically."""
        self._check_fitted()
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
        arrays = {f"model/{name}": array for name, array in self.model.state().items()}
        arrays["waiting_ids"] = self.waiting_ids
        arrays["waiting_rows"] = self._rows(self.waiting_ids)
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
        except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
            raise storage.not_a_learner(path, error) from None
        return learner

    def _resume(self, settings: dict[str, Any], arrays: storage.Arrays) -> None:
        """Take up what was saved, once it is known to make sense."""
        for name in COUNTERS:
            setattr(self, name, storage.count(settings["counters"], name))
        n_features = self._check_fitted()
        coefficient = float(settings["coefficient"])
        if np.isnan(coefficient):
            raise ValueError("the coefficient is not a number")
        self._rule = self._rule_for(coefficient)
        prefix = "model/"
        self.model.restore(
            {key[len(prefix) :]: a for key, a in arrays.items() if key.startswith(prefix)}
        )
        if len(self.model.score(np.zeros((1, n_features)))) != 1:
            raise ValueError("the model scores no row")
        ids = validation.row_ids(arrays["waiting_ids"])
        rows = validation.features(arrays["waiting_rows"], n_features)
        if len(ids) != len(rows) or (np.diff(ids, prepend=-1) <= 0).any():
            raise ValueError("ids of rows that wait must grow, one a row")
        if len(ids) and ids[-1] >= self._next_id:
            raise ValueError("a row waits under an id that was never given")
        self._waiting = Waiting()
        for i, row in zip(ids.tolist(), rows, strict=True):
            self._waiting.add(i, row[None].copy())


def _is_table(X: Any, n_features: int) -> bool:
    """Tell whether kernels can read X as it is; what its values are they check themselves."""
    return (
        type(X) is np.ndarray
        and X.dtype == np.float64
        and X.ndim == 2
        and X.shape[1] == n_features
        and X.flags.c_contiguous
    )


def _with_tuples(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return parameters as they were before JSON, which knows lists only."""
    return {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in parameters.items()
    }


def make_rule(
    method: Method, coefficient: float, cutoff: float, key: int, time: TimeUnit, score: ScoreScale
) -> Rule:
    """Return what the kernels must know of a method at work."""
    return Rule(
        float(coefficient),
        float(cutoff),
        int(key),
        method.n_draws,
        method.uses_width,
        method.accepts_ties,
        time == "examples",
        score == "contrast",
    )


def nan_bonus(method: Method, round_: int) -> ValueError:
    """Return the error for a bonus that is not a number."""
    return ValueError(
        f"the bonus of method {method.name!r} is NaN in round {round_ + 1}; "
        "if it reads the width, set uses_width = True"
    )

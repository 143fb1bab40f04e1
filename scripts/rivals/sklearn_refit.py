"""scikit-learn refitted from all observed rows: Ridge every round, LogisticRegression every batch.

Rows hold the constant column where there is one and fit_intercept is off, so the intercept is
penalised as every other coefficient and all solvers have the same optimum:
min_b Σ log(1 + exp(-s·x'b)) + ‖b‖²/(2C), with s = ±1.
"""

from __future__ import annotations

import warnings
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from .newton import newton_logistic, sigmoid
from .probe import probe


class Setting(NamedTuple):
    """A way of calling LogisticRegression; warm start is on wherever the solver has one."""

    solver: str
    tol: float
    sparse: bool = False

    @property
    def label(self) -> str:
        """Name for a table, such as "lbfgs, tol 1e-07, sparse"."""
        return f"{self.solver}, tol {self.tol:g}, {'sparse' if self.sparse else 'dense'}"


class LogisticRun(NamedTuple):
    """Decisions, last coefficients, time (deciding and refitting), and distance to the optimum."""

    accepted: np.ndarray
    coef: np.ndarray
    seconds: float
    n_fits: int
    score_error: float


SOLVERS = ("lbfgs", "newton-cholesky", "newton-cg", "liblinear")
DEFAULT_TOL = 1e-4
TOLERANCES = (1e-5, 1e-6, 1e-7, 1e-8, 1e-10)


def available() -> tuple[bool, str]:
    """Is scikit-learn there?"""
    return probe("sklearn.linear_model", "scikit-learn")


def refit_linear_cost(X: np.ndarray, y: np.ndarray, n_observed: int, repeats: int = 5) -> float:
    """Median seconds of one Ridge refit on the first n_observed rows: the price of one round."""
    from sklearn.linear_model import Ridge

    observed, labels = X[:n_observed], y[:n_observed]
    seconds = []
    for _ in range(repeats):
        start = perf_counter()
        Ridge(alpha=1.0, fit_intercept=False).fit(observed, labels)
        seconds.append(perf_counter() - start)
    return median(seconds)


def run_logistic(
    X: np.ndarray,
    y: np.ndarray,
    n_initial: int,
    *,
    batch: int,
    cutoff: float,
    C: float = 1.0,
    setting: Setting = Setting("lbfgs", 1e-10),  # noqa: B008
    max_iter: int = 10_000,
    check: bool = False,
) -> LogisticRun:
    """Whole stream with greedy acceptance (μ > cutoff), one refit for each batch that gave labels.

    With `check`, score_error is the largest |μ(x'b) - μ(x'b*)| over all rows and all refits, b*
    the optimum on the same observed rows by Newton's method (not timed); else it is NaN.
    """
    model = _model(setting, C, max_iter)
    rows = _rows(X, setting.sparse)
    observed = np.arange(n_initial)
    coef, seconds = _fit(model, rows, y, observed)
    errors = [_score_error(X, y, observed, coef, C)] if check else [np.nan]
    accepted = np.zeros(len(X), dtype=bool)
    n_fits = 1
    for start in range(n_initial, len(X), batch):
        began = perf_counter()
        chosen = start + np.flatnonzero(sigmoid(rows[start : start + batch] @ coef) > cutoff)
        accepted[chosen] = True
        observed = np.concatenate([observed, chosen])
        seconds += perf_counter() - began
        if len(chosen):
            coef, cost = _fit(model, rows, y, observed)
            seconds, n_fits = seconds + cost, n_fits + 1
            errors += [_score_error(X, y, observed, coef, C)] if check else []
    return LogisticRun(accepted[n_initial:], coef, seconds, n_fits, max(errors))


def settings_at_optimum() -> list[Setting]:
    """Every solver and input kind at every tight tolerance, loosest first."""
    return [Setting(s, tol, sp) for s in SOLVERS for sp in (False, True) for tol in TOLERANCES]


def fastest_setting(
    X: np.ndarray,
    y: np.ndarray,
    n_initial: int,
    *,
    batch: int,
    cutoff: float,
    max_error: float = 1e-6,
) -> Setting:
    """The fastest fair rival: the quickest setting whose scores stay within max_error.

    For each solver and input kind only the loosest tolerance that is good enough is a candidate.
    """
    quickest: dict[tuple[str, bool], tuple[float, Setting]] = {}
    for setting in settings_at_optimum():
        key = (setting.solver, setting.sparse)
        if key in quickest:
            continue
        run = run_logistic(X, y, n_initial, batch=batch, cutoff=cutoff, setting=setting, check=True)
        if run.score_error <= max_error:
            quickest[key] = (run.seconds, setting)
    return min(quickest.values())[1]


def _model(setting: Setting, C: float, max_iter: int) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(
        C=C,
        tol=setting.tol,
        solver=setting.solver,
        fit_intercept=False,
        warm_start=setting.solver != "liblinear",
        max_iter=max_iter,
        random_state=0,
    )


def _rows(X: np.ndarray, sparse: bool) -> Any:
    if not sparse:
        return X
    from scipy.sparse import csr_array

    return csr_array(X)


def _fit(model: Any, rows: Any, y: np.ndarray, observed: np.ndarray) -> tuple[np.ndarray, float]:
    """Coefficients and seconds of one refit; only observed labels are read."""
    start = perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # no convergence at extreme tolerances; score_error tells
        model.fit(rows[observed], y[observed])
    return model.coef_[0].copy(), perf_counter() - start


def _score_error(
    X: np.ndarray, y: np.ndarray, observed: np.ndarray, coef: np.ndarray, C: float
) -> float:
    optimum = newton_logistic(X[observed], y[observed], l2=1.0 / C, start=coef)
    return float(np.max(np.abs(sigmoid(X @ coef) - sigmoid(X @ optimum))))

"""Greedy on a cell of the paper, as its reader would write it: scikit-learn refitted on all rows.

Ridge after every accepted row, or LogisticRegression (liblinear, whose intercept is penalised)
after every batch, both with scikit-learn's own tolerances.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .probe import probe


def available() -> tuple[bool, str]:
    """Is scikit-learn there?"""
    return probe("sklearn.linear_model", "scikit-learn")


def greedy_loss(
    X: np.ndarray,
    y: np.ndarray,
    truth: np.ndarray,
    n_initial: int,
    *,
    linear: bool,
    batch: int,
    cutoff: float,
) -> float:
    """Return the one-sided loss of a stream whose first ``n_initial`` rows are the warm start."""
    model = _model(linear)
    observed = np.arange(n_initial)
    model.fit(X[observed], y[observed])
    loss = 0.0
    for start in range(n_initial, len(X), batch):
        rows = np.arange(start, min(start + batch, len(X)))
        accepted = _score(model, X[rows], linear) > cutoff
        wrong = accepted != (truth[rows] > cutoff)
        loss += float(np.abs(truth[rows] - cutoff)[wrong].sum())
        if accepted.any():
            observed = np.concatenate([observed, rows[accepted]])
            model.fit(X[observed], y[observed])
    return loss


def _model(linear: bool) -> Any:
    from sklearn.linear_model import LogisticRegression, Ridge

    if linear:
        return Ridge(alpha=1.0, fit_intercept=False)
    return LogisticRegression(C=1.0, solver="liblinear", random_state=0)


def _score(model: Any, rows: np.ndarray, linear: bool) -> np.ndarray:
    scores: np.ndarray = (
        model.predict(rows) if linear else 2.0 * model.predict_proba(rows)[:, 1] - 0.5
    )
    return scores

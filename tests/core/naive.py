"""What a learner must do, the slow way: refit from scratch with numpy after every label.

Nothing of the project is used but the uniform draws, which are random and so must be shared.
Formulas are those of the paper (Section 8, Algorithm 2), written out a second time.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy.special import expit, ndtr

from pipeline.core.kernels.draws import fill_draws

BAND = 1e-8

MEANS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "linear": lambda z: z,
    "logistic": expit,
    "probit": ndtr,
}
SLOPES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "linear": np.ones_like,
    "logistic": lambda z: expit(z) * expit(-z),
    "probit": lambda z: np.exp(-z * z / 2) / math.sqrt(2 * math.pi),
}


def bonus(method: str, t: float, alpha: float, width: float, u: np.ndarray) -> float:
    """Return what each method adds to the score; u are its uniform draws."""
    chance = u[0] < alpha * t**-0.5
    coin = math.inf if u[1] < 0.5 else -math.inf
    return {
        "greedy": 0.0,
        "eps_greedy": coin if chance else 0.0,
        "os_eps_greedy": math.inf if chance else 0.0,
        "noise": alpha * (u[0] - 0.5) * t**-0.5,
        "os_noise": alpha * u[0] * t**-0.5,
        "margin": alpha * t**-0.5,
        "ours": alpha * width,
        "ours_log": alpha * math.log(t) ** 0.5 * width,
    }[method]


def fit(X: np.ndarray, y: np.ndarray, penalty: np.ndarray, link: str) -> np.ndarray:
    """Return β with Σ x (y − μ(x'β)) = penalty∘β: Newton's method, halving steps that fail."""
    beta = np.zeros(X.shape[1])
    gradient = X.T @ (MEANS[link](X @ beta) - y) + penalty * beta
    for _ in range(200):
        H = np.diag(penalty) + X.T @ (SLOPES[link](X @ beta)[:, None] * X)
        step, length = -np.linalg.solve(H, gradient), 1.0
        while length > 1e-6:
            trial = beta + length * step
            fresh = X.T @ (MEANS[link](X @ trial) - y) + penalty * trial
            if fresh @ np.linalg.solve(H, fresh) <= gradient @ np.linalg.solve(H, gradient):
                break
            length /= 2
        beta, gradient = trial, fresh
        if np.abs(step).max() <= 1e-13 * (1 + np.abs(beta).max()):
            break
    return beta


@dataclass
class NaiveLearner:
    """One lane, refitted from all labels that have arrived whenever it is asked."""

    method: str
    X: np.ndarray
    y: np.ndarray
    cutoff: float = 0.5
    alpha: float = 1.0
    key: int = 0
    link: str = "linear"
    l2: float = 1.0
    fit_intercept: bool = True
    penalize_intercept: bool = True
    time: str = "rounds"
    score: str = "mean"
    grow: str = "label"
    rounds: int = 0
    seen: int = 0
    next_id: int = 0
    waiting: dict[int, np.ndarray] = field(default_factory=dict)

    def design(self, X: np.ndarray) -> np.ndarray:
        return np.column_stack([X, np.ones(len(X))]) if self.fit_intercept else X

    @property
    def penalty(self) -> np.ndarray:
        penalty = np.full(self.design(self.X[:1]).shape[1], self.l2)
        if self.fit_intercept and not self.penalize_intercept:
            penalty[-1] = 0.0
        return penalty

    def beta(self) -> np.ndarray:
        return fit(self.design(self.X), self.y, self.penalty, self.link)

    def scores(self, X: np.ndarray) -> np.ndarray:
        mean = MEANS[self.link](self.design(X) @ self.beta())
        return 2 * mean - 0.5 if self.score == "contrast" else mean

    def widths(self, X: np.ndarray) -> np.ndarray:
        rows = self.X
        if self.grow == "acceptance" and self.waiting:
            rows = np.vstack([rows, *self.waiting.values()])
        Z, D = self.design(rows), self.design(X)
        A = np.diag(self.penalty) + Z.T @ Z
        return np.sqrt(np.einsum("ij,ij->i", D, np.linalg.solve(A, D.T).T))

    def decide(self, X: np.ndarray, accepted: np.ndarray) -> np.ndarray:
        """Return score + bonus − cutoff of each row, one round, given what was decided."""
        scores, margins, draws = self.scores(X), np.empty(len(X)), np.empty(2)
        for i, x in enumerate(X):
            fill_draws(self.key, self.seen + i, draws)
            t = self.seen + i + 1 if self.time == "examples" else self.rounds + 1
            width = self.widths(x[None])[0]
            extra = bonus(self.method, t, self.alpha, width, draws)
            margins[i] = scores[i] + extra - self.cutoff
            if accepted[i]:
                self.waiting[self.next_id] = x
                self.next_id += 1
        self.rounds += 1
        self.seen += len(X)
        return margins

    def learn(self, ids: list[int], y: list[float]) -> None:
        rows = [self.waiting.pop(i) for i in ids]
        self.X, self.y = np.vstack([self.X, *rows]), np.append(self.y, y)

    def forget(self, ids: list[int]) -> None:
        for i in ids:
            del self.waiting[i]


def assert_decided(margins: np.ndarray, accepted: np.ndarray) -> None:
    """Accepted means above the cutoff, wherever rounding cannot matter."""
    clear = np.abs(margins) > BAND
    np.testing.assert_array_equal(accepted[clear], margins[clear] > 0)


def assert_lane(
    naive: NaiveLearner, X: np.ndarray, y: np.ndarray, accepted: np.ndarray, batch: int, delay: int
) -> None:
    """Follow a lane's decisions round by round and find every one of them right."""
    owed = []
    for first in range(0, len(X), batch):
        part = slice(first, first + batch)
        before = naive.next_id
        assert_decided(naive.decide(X[part], accepted[part]), accepted[part])
        owed.append((range(before, naive.next_id), y[part][accepted[part]]))
        if len(owed) > delay:
            ids, labels = owed.pop(0)
            naive.learn(list(ids), list(labels))

"""The loop a competent numpy user writes: Sherman-Morrison, linear link, one row a round."""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import NDArray

METHODS = ("greedy", "eps_greedy", "os_eps_greedy", "noise", "os_noise", "margin", "ours")
State = tuple[np.ndarray, np.ndarray]  # A⁻¹ (d×d) and beta (d)


def available() -> tuple[bool, str]:
    """Only numpy is needed."""
    return True, f"numpy {np.__version__}"


def run(
    X: np.ndarray,
    y: np.ndarray,
    n_initial: int,
    *,
    method: str,
    alpha: float,
    cutoff: float,
    l2: float = 1.0,
    seed: int = 0,
    draws: np.ndarray | None = None,
) -> np.ndarray:
    """Accepted mask of the stream rows X[n_initial:]; a row is accepted if score + bonus > cutoff.

    `draws` (stream rows × 2, uniform on [0, 1)) replaces the seeded draws: column 0 is u or
    decides whether to explore, column 1 is the coin.
    """
    state = warm_start(X[:n_initial], y[:n_initial], l2)
    stream, labels = X[n_initial:], y[n_initial:]
    if draws is None:
        draws = np.random.default_rng(seed).random((len(stream), 2))
    if method == "ours":
        return _run_ours(stream, labels, state, alpha, cutoff)
    return _run_bonus(stream, labels, state, bonuses(method, alpha, draws), cutoff)


def warm_start(X0: np.ndarray, y0: np.ndarray, l2: float) -> State:
    """A⁻¹ = (l2·I + X0'X0)⁻¹ and beta = A⁻¹ X0'y0."""
    A_inv = np.linalg.inv(l2 * np.eye(X0.shape[1]) + X0.T @ X0)
    return A_inv, A_inv @ (X0.T @ y0)


def bonuses(method: str, alpha: float, draws: np.ndarray) -> np.ndarray:
    """Bonus of every round, t = 1, 2, ...; ±inf where a draw alone decides.

    Everything but `ours` depends only on t and the draws, so it is made in one vector step.
    """
    u: NDArray[np.float64] = draws[:, 0]
    coin: NDArray[np.float64] = draws[:, 1]
    scale: NDArray[np.float64] = alpha / np.sqrt(np.arange(1, len(draws) + 1))
    explore = u < scale  # P = min(1, alpha/√t), as u < 1
    if method == "greedy":
        return np.zeros(len(draws))
    if method == "eps_greedy":
        return np.where(explore, np.where(coin < 0.5, np.inf, -np.inf), 0.0)
    if method == "os_eps_greedy":
        return np.where(explore, np.inf, 0.0)
    if method == "noise":
        return scale * (u - 0.5)
    if method == "os_noise":
        return scale * u
    if method == "margin":
        return scale
    raise ValueError(f"unknown method {method!r}; one of {METHODS}")


def _run_bonus(
    X: np.ndarray, y: np.ndarray, state: State, bonus: np.ndarray, cutoff: float
) -> np.ndarray:
    """The six methods whose bonus needs no width: A⁻¹x is computed for accepted rows only."""
    A_inv, beta = state
    accepted = np.zeros(len(X), dtype=bool)
    for i, x in enumerate(X):
        score = x @ beta
        if score + bonus[i] > cutoff:
            accepted[i] = True
            u = A_inv @ x
            s = x @ u
            A_inv -= np.outer(u, u) / (1.0 + s)
            beta += u * ((y[i] - score) / (1.0 + s))
    return accepted


def _run_ours(
    X: np.ndarray, y: np.ndarray, state: State, alpha: float, cutoff: float
) -> np.ndarray:
    """`ours`: bonus alpha·sqrt(x'A⁻¹x), computed every round and used again for the update."""
    A_inv, beta = state
    accepted = np.zeros(len(X), dtype=bool)
    for i, x in enumerate(X):
        score = x @ beta
        u = A_inv @ x
        s = x @ u
        if score + alpha * sqrt(s) > cutoff:
            accepted[i] = True
            A_inv -= np.outer(u, u) / (1.0 + s)
            beta += u * ((y[i] - score) / (1.0 + s))
    return accepted

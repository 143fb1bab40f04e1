"""Outcomes made up for tests."""

from __future__ import annotations

import numpy as np

from pipeline.results.outcome import Outcome

N_SPLITS, ROUNDS, ALPHAS = 3, np.array([1, 5, 10]), (0.5, 2.0)


def made_up(seed: int = 0, groups: bool = False) -> Outcome:
    """Return an outcome of two alphas and three splits; 0.5 is the tuned alpha."""
    rng = np.random.default_rng(seed)
    n = N_SPLITS * len(ALPHAS)
    loss = np.concatenate([rng.uniform(1, 2, N_SPLITS), rng.uniform(3, 4, N_SPLITS)])
    counts = {"rows": 10, "above": 4, "accepted": 5, "missed": 1, "wasted": 2}
    tuned = loss[:N_SPLITS]
    losses = {
        "alpha": np.repeat(ALPHAS, N_SPLITS),
        "split": np.tile(np.arange(N_SPLITS), len(ALPHAS)),
        "loss": loss,
        **{name: np.full(n, count) for name, count in counts.items()},
    }
    return Outcome(
        losses=losses,
        curves={
            "split": np.repeat(np.arange(N_SPLITS), len(ROUNDS)),
            "round": np.tile(ROUNDS, N_SPLITS),
            "loss": np.outer(tuned, ROUNDS / ROUNDS[-1]).ravel(),
        },
        groups=_groups(losses) if groups else None,
        summary={
            "alpha": 0.5,
            "loss": float(tuned.mean()),
            "standard_error": float(tuned.std(ddof=1) / np.sqrt(N_SPLITS)),
            "accepted_rate": 0.5,
            "missed_rate": 0.25,
            "cutoff_value": 0.3,
            "n_rounds": 10,
            "n_stream": 10,
            "n_initial": 5,
            "n_lanes": n,
            "n_splits": N_SPLITS,
        },
    )


def _groups(losses: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    doubled = {name: np.repeat(column, 2) for name, column in losses.items()}
    names = np.tile(np.array(["a", "b"], dtype=object), len(losses["loss"]))
    loss = doubled.pop("loss") * np.tile([0.25, 0.75], len(losses["loss"]))
    head = {"alpha": doubled.pop("alpha"), "split": doubled.pop("split")}
    return {**head, "group": names, "loss": loss, **doubled}

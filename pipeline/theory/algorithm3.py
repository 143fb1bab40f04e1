"""Algorithm 3 followed update by update: the distance to β*, the bound d_t and the mistakes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.core.links import Link
from pipeline.core.methods import Setting
from pipeline.core.methods.sgd import Iterate, Sgd
from pipeline.core.models.base import ModelSpec
from pipeline.data.synthetic import glm
from pipeline.paper.estimates import FloatArray

LOOK_AHEAD = 256  # rows judged at once: β stays the same until one of them moves it
SIGMA = 1.0  # of the features, x ~ N(0, I)


@dataclass(frozen=True)
class Case:
    """What Algorithm 3 is run on: y = μ(x'β*) + ε with ε uniform on ±``noise``.

    Attributes:
        name: how tables and figures call it.
        link: μ; labels are not 0/1 here, whatever the link.
        method: with its bounds.
        zeta: ζ, the distance of the cutoff from E[μ]: below, or above with −s_t.
        d: columns.
        n: T.
        noise: the largest |ε|.
        coef_norm: ‖β*‖.
    """

    name: str
    link: Link
    method: Sgd
    zeta: float
    d: int
    n: int
    noise: float
    coef_norm: float

    @property
    def cutoff(self) -> float:
        """Return c = E[μ] ∓ ζ; E[μ] = μ(0), as both links here are odd around it."""
        sign = 1.0 if self.method.high_cutoff else -1.0
        return self.link.mean(0.0) + sign * self.zeta

    @property
    def error_probability(self) -> float:
        """Return ρ = 1/δ + exp(−ζ²/(2L²‖β*‖²σ²)) of Proposition 2."""
        spread = self.link.lipschitz * self.coef_norm * SIGMA
        return 1.0 / self.method.distance_slack + math.exp(-0.5 * (self.zeta / spread) ** 2)

    @property
    def accuracy(self) -> float:
        """Return L/γ·(α + 2B), to which μ is right where no update is made."""
        radius = self.method.radius
        floor = self.link.lipschitz if radius is None else self.link.slope(radius)
        return self.link.lipschitz / floor * (self.method.accuracy + 2 * self.method.noise_bound)


@dataclass(frozen=True)
class Path:
    """One run.

    Attributes:
        rounds: t of each update.
        distances: ‖β − β*‖ before the first update and after each.
        bounds: d_t, likewise.
        claimed: α²/(‖x‖²L²), by which each update should bring ‖β − β*‖² down.
        accepted: each decision.
        above: whether μ(x'β*) ≥ c, for each row.
        largest_error: of μ(x'β_t) where a row was accepted and β stayed.
    """

    rounds: NDArray[np.int64]
    distances: FloatArray
    bounds: FloatArray
    claimed: FloatArray
    accepted: NDArray[np.bool_]
    above: NDArray[np.bool_]
    largest_error: float

    @property
    def falls_short(self) -> NDArray[np.bool_]:
        """Tell for each update whether it brought less than claimed."""
        short: NDArray[np.bool_] = np.diff(self.distances**2) > -self.claimed
        return short

    @property
    def mistakes(self) -> NDArray[np.bool_]:
        """Tell for each row whether it was decided wrongly."""
        wrong: NDArray[np.bool_] = self.accepted != self.above
        return wrong

    def at(self, t: NDArray[np.int64], values: FloatArray) -> FloatArray:
        """Return distances or bounds after round t."""
        found: FloatArray = values[np.searchsorted(self.rounds, t, side="right")]
        return found


def follow(case: Case, seed: int) -> Path:
    """Run Algorithm 3 on data drawn with that seed, from β₀ = 0."""
    rows = glm(d=case.d, n=case.n, link=case.link.name, seed=seed, coef_norm=case.coef_norm)
    assert rows.truth is not None
    assert rows.beta is not None
    noise = np.random.default_rng([seed, 2]).uniform(-case.noise, case.noise, case.n)
    return follow_rows(case, rows.X, rows.truth + noise, rows.truth, rows.beta)


def follow_rows(
    case: Case, X: FloatArray, y: FloatArray, truth: FloatArray, beta: FloatArray
) -> Path:
    """Run Algorithm 3 over rows; those up to the next update are judged at once."""
    method, link, d = case.method, case.link, X.shape[1]
    model = Iterate(ModelSpec(link, fit_intercept=False), method)
    model.fit(np.empty((0, d)), np.empty(0))
    coefficient = method.coefficient(1.0, Setting(link, d, case.cutoff))
    accepted = np.zeros(len(X), dtype=np.bool_)
    rounds: list[int] = []
    claimed: list[float] = []
    distances, bounds, largest = [_off(model, beta)], [model.distance_], 0.0
    t = 0
    while t < len(X):
        part = slice(t, t + LOOK_AHEAD)
        score = model.score(X[part])
        passes = score + coefficient * model.width(X[part]) >= case.cutoff
        moves = passes & (np.abs(y[part] - score) > method.accuracy + method.noise_bound)
        n = int(moves.argmax()) + 1 if moves.any() else len(score)
        accepted[t : t + n] = passes[:n]
        still = passes[:n] & ~moves[:n]
        errors = np.abs(truth[t : t + n] - score[:n])[still]
        largest = max(largest, float(errors.max(initial=0.0)))
        t += n
        if not moves.any():
            continue
        model.update(X[t - 1 : t], y[t - 1 : t])
        rounds.append(t)
        claimed.append(method.accuracy**2 / float(X[t - 1] @ X[t - 1]) / link.lipschitz**2)
        distances.append(_off(model, beta))
        bounds.append(model.distance_)
    return Path(
        rounds=np.array(rounds, dtype=np.int64),
        distances=np.array(distances),
        bounds=np.array(bounds),
        claimed=np.array(claimed),
        accepted=accepted,
        above=truth >= case.cutoff,
        largest_error=largest,
    )


def _off(model: Iterate, beta: FloatArray) -> float:
    return float(np.linalg.norm(model.beta - beta))

"""Algorithm 2 with its constants: the bonus the theorem proves, not the one that is tuned.

ρ_t(δ) = (2L/η)·κ·C·sqrt(2d log t)·sqrt(log(2dT/δ)) with
κ = sqrt(3 + 2 log(1 + 2NB²/λ₀)), C = LBM + γ + c + φ·sqrt(log(2T/δ)) (Theorem 2, Lemma 5).
docs/glossary.md lists the names given to the paper's symbols.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from pipeline.core.links import Link
from pipeline.core.methods.base import Setting, check_number, register
from pipeline.core.methods.ours import OursLog
from pipeline.core.models.base import Model, ModelSpec


@register
@dataclass(frozen=True)
class OursTheory(OursLog):
    """Add alpha·ρ_t(δ)·sqrt(x'A⁻¹x); alpha = 1 is the theorem.

    All of ρ_t but sqrt(log t) is in what the bonus receives as alpha, and ρ₁ = 0.

    Attributes:
        horizon: T, the number of rounds.
        batch_size: N, rows a round.
        feature_bound: B, with ‖x‖ ≤ B (the constant column included).
        coef_bound: M, with ‖β*‖ ≤ M; a fit beyond it is projected.
        noise_scale: φ, the subgaussian scale of the noise (½ is enough for 0/1 labels).
        min_eigenvalue: λ₀, the smallest eigenvalue of A after the warm start.
        failure_probability: δ.
    """

    name = "ours_theory"
    horizon: int = 10_000
    batch_size: int = 1
    feature_bound: float = 1.0
    coef_bound: float = 1.0
    noise_scale: float = 0.5
    min_eigenvalue: float = 1.0
    failure_probability: float = 0.1

    def __post_init__(self) -> None:
        """Refuse bounds that bound nothing."""
        for name in vars(self):
            check_number(self, name)
        if self.failure_probability >= 1:
            raise ValueError("ours_theory: failure_probability must be below 1")

    def coefficient(self, alpha: float, setting: Setting) -> float:
        """Return alpha·ρ_t/sqrt(log t)."""
        return alpha * self.rho(math.e, setting)

    def rho(self, t: float, setting: Setting) -> float:
        """Return ρ_t(δ)."""
        d, T, delta = setting.n_columns, self.horizon, self.failure_probability
        if delta >= d / math.e:
            raise ValueError(
                f"ours_theory: failure_probability must be below d/e = {d / math.e:.2g} (d = {d})"
            )
        scale = 2.0 * setting.link.lipschitz / self.min_slope(setting.link) * self.kappa()
        scale *= 2.0 if setting.contrast else 1.0  # the contrast 2μ − ½ is twice as steep
        spread = math.sqrt(2.0 * d * math.log(t)) * math.sqrt(math.log(2.0 * d * T / delta))
        return scale * self.response_bound(setting) * spread

    def kappa(self) -> float:
        """Return κ = sqrt(3 + 2 log(1 + 2NB²/λ₀))."""
        ratio = 2.0 * self.batch_size * self.feature_bound**2 / self.min_eigenvalue
        return math.sqrt(3.0 + 2.0 * math.log1p(ratio))

    def response_bound(self, setting: Setting) -> float:
        """Return C_{T,δ} = LBM + γ + c + φ·sqrt(log(2T/δ)), with γ = |μ(0)| and |c|."""
        link = setting.link
        reach = link.lipschitz * self.feature_bound * self.coef_bound
        noise = self.noise_scale * math.sqrt(
            math.log(2.0 * self.horizon / self.failure_probability)
        )
        cutoff = (setting.cutoff + 0.5) / 2.0 if setting.contrast else setting.cutoff
        return reach + abs(link.mean(0.0)) + abs(cutoff) + noise

    def min_slope(self, link: Link) -> float:
        """Return η = min μ' over |z| ≤ BM (Lemma 4); a unimodal μ' has it at an edge."""
        edge = self.feature_bound * self.coef_bound
        slope = min(link.slope(edge), link.slope(-edge))
        if slope <= 0.0:
            raise ValueError(
                f"ours_theory: the {link.name} link is flat where |z| = feature_bound·coef_bound = "
                f"{edge:g}, so the bonus is infinite; give smaller bounds"
            )
        return slope

    def make_model(self, spec: ModelSpec) -> Model:
        """Return a GLM that projects when ‖β̂‖ > M."""
        from pipeline.core.models.projected import ProjectedGLM  # compiles: only when wanted

        return ProjectedGLM(spec, self.coef_bound)

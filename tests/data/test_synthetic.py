from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

from pipeline.data.dataset import Dataset
from pipeline.data.errors import DataError
from pipeline.data.synthetic import glm, greedy_trap


def truth(dataset: Dataset) -> np.ndarray:
    assert dataset.truth is not None
    assert dataset.beta is not None
    return dataset.truth


def test_glm_features_are_standard_normal() -> None:
    X = glm(d=5, n=50_000, seed=1).X
    assert X.shape == (50_000, 5)
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=0.02)
    np.testing.assert_allclose(np.cov(X.T), np.eye(5), atol=0.03)
    assert stats.kstest(X[:5000].ravel(), "norm").pvalue > 1e-3


def test_glm_linear_labels_have_the_means_and_the_noise() -> None:
    dataset = glm(d=4, n=50_000, noise=0.5, seed=2, coef_norm=3.0)
    residual = dataset.y - truth(dataset)
    np.testing.assert_allclose(truth(dataset), dataset.X @ dataset.beta, rtol=1e-12)
    assert np.linalg.norm(dataset.beta) == pytest.approx(3)
    assert stats.kstest(residual / 0.5, "norm").pvalue > 1e-3
    fitted = np.linalg.lstsq(dataset.X, dataset.y, rcond=None)[0]
    np.testing.assert_allclose(fitted, dataset.beta, atol=5 * 0.5 / np.sqrt(50_000))


def test_glm_noise_can_be_bounded() -> None:
    dataset = glm(d=4, n=50_000, noise=0.5, noise_kind="uniform", seed=2)
    residual = dataset.y - truth(dataset)
    assert np.abs(residual).max() <= 0.5
    assert stats.kstest(residual + 0.5, "uniform").pvalue > 1e-3


def test_glm_features_can_be_bounded() -> None:
    X = glm(d=3, n=50_000, features="sphere", seed=1).X
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(X.T @ X / 50_000, np.eye(3) / 3, atol=0.01)


def test_glm_by_default_draws_what_it_always_drew() -> None:
    """Results that are kept hang on these very values."""
    rng = np.random.default_rng([7, 0])
    beta = rng.standard_normal((1, 3))[0]
    X = rng.standard_normal((20, 3))
    y = X @ (2.0 * beta / np.linalg.norm(beta)) + 0.5 * rng.standard_normal(20)
    dataset = glm(d=3, n=20, noise=0.5, seed=7, coef_norm=2.0)
    np.testing.assert_array_equal(dataset.X, X)
    np.testing.assert_allclose(dataset.y, y, rtol=1e-12)


def test_glm_without_noise_is_its_truth() -> None:
    dataset = glm(n=100, noise=0.0)
    np.testing.assert_array_equal(dataset.y, truth(dataset))


@pytest.mark.parametrize(("link", "mean"), [("logistic", expit), ("probit", stats.norm.cdf)])
def test_glm_binary_labels_have_the_means_as_probabilities(link: str, mean: object) -> None:
    dataset = glm(d=3, n=40_000, link=link, seed=3, coef_norm=2.0)
    assert set(dataset.y) == {0.0, 1.0}
    np.testing.assert_allclose(truth(dataset), mean(dataset.X @ dataset.beta))  # type: ignore[operator]
    for low in np.arange(0, 1, 0.1):
        part = (truth(dataset) >= low) & (truth(dataset) < low + 0.1)
        error = 5 * np.sqrt(0.25 / part.sum())
        assert abs(dataset.y[part].mean() - truth(dataset)[part].mean()) < error


@pytest.mark.parametrize("link", ["linear", "logistic"])
def test_the_trap_is_that_of_theorem_1(link: str) -> None:
    dataset = greedy_trap(d=6, n=20_000, cutoff=0.4, gap=0.2, link=link, seed=5)
    v = np.eye(6)[0]
    along = dataset.X @ v
    on_v = along != 0
    np.testing.assert_array_equal(dataset.X[on_v], np.tile(v, (on_v.sum(), 1)))
    assert stats.binomtest(int(on_v.sum()), 20_000, 0.1).pvalue > 1e-3
    np.testing.assert_array_equal(along[~on_v], 0)  # orthogonal, exactly
    np.testing.assert_allclose(np.linalg.norm(dataset.X, axis=1), 1)
    np.testing.assert_allclose(truth(dataset)[on_v], 0.4 + 0.2)
    assert dataset.cutoff_value == 0.4
    assert dataset.group is not None
    assert [dataset.group.names[code] == "v" for code in dataset.group.codes] == on_v.tolist()
    values = truth(dataset)[~on_v]
    assert values.min() < 0.4 < values.max()
    if link == "linear":
        assert stats.kstest(dataset.y - truth(dataset), "norm").pvalue > 1e-3
    else:
        assert stats.binomtest(int(dataset.y[on_v].sum()), int(on_v.sum()), 0.6).pvalue > 1e-3


@pytest.mark.parametrize("make", [glm, greedy_trap])
def test_the_seed_decides(make: object) -> None:
    first, again, other = (make(n=50, seed=seed) for seed in (1, 1, 2))  # type: ignore[operator]
    assert first.X.tobytes() == again.X.tobytes()
    assert first.y.tobytes() == again.y.tobytes()
    assert first.X.tobytes() != other.X.tobytes()
    assert first.columns == tuple(f"x{k}" for k in range(10))
    assert not first.intercept


@pytest.mark.parametrize(
    ("make", "options", "message"),
    [
        (glm, {"link": "logit"}, "unknown link 'logit'"),
        (glm, {"n": 0}, "n is too small: 0"),
        (glm, {"noise": -1.0}, "noise must be a finite number >= 0"),
        (glm, {"noise_kind": "gauss"}, "noise_kind is normal or uniform, not 'gauss'"),
        (glm, {"features": "ball"}, "features is normal or sphere, not 'ball'"),
        (greedy_trap, {"d": 1}, "d is too small"),
        (greedy_trap, {"gap": 0.0}, "gap must be a finite number > 0"),
        (greedy_trap, {"share": 1.0}, "share must lie between 0 and 1"),
        (greedy_trap, {"link": "logistic", "gap": 0.5}, r"cutoff \+ gap 1 must lie between 0"),
    ],
)
def test_nonsense_is_refused(make: object, options: dict[str, object], message: str) -> None:
    with pytest.raises(DataError, match=message):
        make(**options)  # type: ignore[operator]

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path as File

import matplotlib.image
import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from pipeline.core.links import Linear, Logistic
from pipeline.core.methods.sgd import Sgd
from pipeline.data.synthetic import glm
from pipeline.theory.__main__ import main
from pipeline.theory.algorithm3 import Case, Path, follow, follow_rows
from pipeline.theory.driver import Measured
from pipeline.theory.sgd import cases_of, figure, points_of, row_of
from pipeline.view.style import look
from tests.theory.made_up_results import cell

METHOD = Sgd(initial_distance=0.3, accuracy=0.05, noise_bound=0.3, distance_slack=0.5)
CASE = Case("made up", Linear(), METHOD, zeta=0.5, d=3, n=600, noise=0.3, coef_norm=1.0)
LOGISTIC = replace(
    CASE,
    link=Logistic(),
    zeta=0.1,
    noise=0.1,
    method=replace(METHOD, accuracy=0.02, noise_bound=0.1, radius=1.5),
)
# c = 0.6 below the mean: above it nothing is ever accepted, as μ(0) − s_t < c from the start
HIGH = replace(CASE, zeta=-0.6, method=replace(METHOD, distance_slack=0.1, high_cutoff=True))


def rows_of(case: Case) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    beta = np.array([2.0, -1.0, 2.0]) / 3
    X = rng.normal(size=(case.n, 3))
    truth = X @ beta if case.link.name == "linear" else expit(X @ beta)
    return X, truth + rng.uniform(-case.noise, case.noise, case.n), truth, beta


def as_printed(case: Case) -> tuple[list[bool], list[float], list[float], list[int]]:
    """Algorithm 3 row by row, written out a second time; d_t² has a floor of 0."""
    X, y, _, best = rows_of(case)
    m, c = case.method, case.cutoff
    L, mean = (1.0, lambda z: z) if case.link.name == "linear" else (0.25, expit)
    beta, d = np.zeros(3), m.initial_distance
    accepted, distances, bounds, rounds = [], [float(np.linalg.norm(best))], [d], []
    for t, (x, label) in enumerate(zip(X, y, strict=True), start=1):
        s = L * (1 + m.distance_slack) * d * np.linalg.norm(x)
        accepted.append(bool(mean(x @ beta) + (-s if m.high_cutoff else s) >= c))
        residual = label - mean(x @ beta)
        if not accepted[-1] or abs(residual) <= m.accuracy + m.noise_bound:
            continue
        beta = beta + residual * x / (L * (x @ x))
        if m.radius is not None:
            beta = beta - x * (x @ beta - np.clip(x @ beta, -m.radius, m.radius)) / (x @ x)
        d = math.sqrt(max(0.0, d**2 - m.accuracy**2 / ((x @ x) * L**2)))
        distances.append(float(np.linalg.norm(beta - best)))
        bounds.append(d)
        rounds.append(t)
    return accepted, distances, bounds, rounds


@pytest.mark.parametrize("case", [CASE, LOGISTIC, HIGH], ids=["linear", "logistic", "high"])
def test_a_path_is_that_of_the_printed_steps(case: Case) -> None:
    found = follow_rows(case, *rows_of(case))
    accepted, distances, bounds, rounds = as_printed(case)
    np.testing.assert_array_equal(found.accepted, accepted)
    np.testing.assert_array_equal(found.rounds, rounds)
    np.testing.assert_allclose(found.distances, distances, rtol=1e-9)
    np.testing.assert_allclose(found.bounds, bounds, rtol=1e-9)
    assert len(rounds) > 5
    assert 0 < sum(accepted) < len(accepted) or case is LOGISTIC


def test_the_example_of_the_docs() -> None:
    """β* = ½, x = 1, ε = 1 = B: the update leaves a distance of 1, and d_t falls all the same."""
    case = replace(CASE, d=1, zeta=5.0, method=Sgd(accuracy=0.1, noise_bound=1.0))
    one = np.ones(1)
    found = follow_rows(case, one[:, None], 1.5 * one, 0.5 * one, 0.5 * one)
    np.testing.assert_allclose(found.distances, [0.5, 1.0])
    np.testing.assert_allclose(found.bounds, [1.0, math.sqrt(0.99)])
    np.testing.assert_allclose(found.claimed, [0.01])
    assert found.falls_short.tolist() == [True]
    assert found.mistakes.tolist() == [False]


def test_the_constants_of_proposition_2_by_hand() -> None:
    case = replace(CASE, zeta=2.0, method=replace(METHOD, distance_slack=15.0))
    assert case.error_probability == pytest.approx(1 / 15 + math.exp(-2))
    assert case.cutoff == -2.0
    assert case.accuracy == pytest.approx(0.05 + 0.6)
    steep = 0.25 / (expit(1.5) * expit(-1.5))
    assert LOGISTIC.accuracy == pytest.approx(steep * (0.02 + 0.2))
    assert LOGISTIC.cutoff == pytest.approx(0.4)
    assert HIGH.cutoff == pytest.approx(-0.6)
    assert replace(LOGISTIC, zeta=0.5).error_probability == pytest.approx(2 + math.exp(-2))


@pytest.mark.parametrize("seed", range(5))
def test_without_noise_every_update_brings_what_is_claimed(seed: int) -> None:
    case = replace(CASE, noise=0.0, zeta=2.0, method=Sgd(noise_bound=0.0, distance_slack=15.0))
    found = follow(case, seed)
    assert len(found.rounds) > 3
    assert not found.falls_short.any()
    assert (found.distances <= found.bounds + 1e-12).all()
    assert found.largest_error <= case.accuracy


def test_where_beta_stays_the_mean_is_right_to_the_stated_accuracy() -> None:
    for case in (CASE, LOGISTIC):
        found = follow_rows(case, *rows_of(case))
        assert 0 < found.largest_error <= case.accuracy


def path(distances: list[float], bounds: list[float], rounds: list[int], wrong: int) -> Path:
    accepted, above = np.ones(10, dtype=bool), np.arange(10) >= wrong
    claimed = np.full(len(rounds), 0.1)
    arrays = (np.array(rounds), np.array(distances), np.array(bounds))
    return Path(*arrays, claimed, accepted, above, 0.2)


def test_the_figures_of_a_case_by_hand() -> None:
    case = replace(CASE, n=10)
    paths = [path([1.0, 0.5, 0.6], [1.0, 0.9, 0.0], [2, 6], 1), path([1.0], [1.0], [], 3)]
    row = row_of(case, paths)
    assert row["updates"] == 1
    assert row["falls_short"] == 0.5  # 1 − ¼ is more than 0.1, ¼ − 0.36 is less
    assert (row["bounded"], row["zero"], row["zero_round"]) == (1, 1, 6)
    assert row["mistakes"] == pytest.approx(0.2)
    assert row["trivial"] == pytest.approx(0.2)
    assert row["mistakes_late"] == 0
    points = points_of(case, paths).set_index("round")
    assert points.loc[1, "distance"] == 1.0
    assert points.loc[2, "distance"] == pytest.approx((0.5 + 1.0) / 2)
    assert points.loc[6, "bound"] == pytest.approx((0.0 + 1.0) / 2)


def test_the_cases_are_those_of_the_experiment() -> None:
    none, small, own, logistic, high = cases_of(cell("experiment=sgd", "cutoff_value=-2"))
    assert (none.noise, none.method.noise_bound) == (0.0, 0.0)
    assert small.noise < small.method.accuracy < own.noise == own.method.noise_bound == 0.3
    assert logistic.link.name == "logistic"
    assert (own.cutoff, high.cutoff) == (-2.0, 2.0)
    assert own.n == 20_000
    for case in (none, small, own, logistic, high):
        assert case.error_probability < 1  # else the proposition says nothing


def test_another_method_is_refused() -> None:
    with pytest.raises(ValueError, match="set method=sgd and a cutoff_value"):
        cases_of(cell("experiment=confidence"))


def test_the_figure_has_a_panel_for_each_case_and_one_for_mistakes() -> None:
    case = replace(CASE, n=10)
    paths = [path([1.0, 0.5], [1.0, 0.9], [2], 1)]
    tables = {"sgd": pd.DataFrame([row_of(case, paths)]), "sgd_paths": points_of(case, paths)}
    axes = figure(Measured(tables, [case])).axes
    assert [axis.get_title() for axis in axes][:2] == ["made up", "rows decided wrongly"]
    distance = axes[0].lines[0]
    np.testing.assert_allclose(distance.get_ydata()[[0, -1]], [1.0, 0.5])
    assert distance.get_color() == axes[1].lines[0].get_color() == look("sgd").colour
    for axis in axes[:2]:
        assert axis.get_xlabel()
        assert axis.get_ylabel()


def run_toy(folder: File) -> File:
    toy = [
        "--runs",
        "3",
        "dataset.n=401",
        "splits=2",
        "tracking=none",
        "n_jobs=1",
        f"outputs={folder}/o",
        "tracking=none",
    ]
    assert main(["sgd", *toy, "--out", f"{folder}/out"]) == 0
    return folder / "out"


def test_toy_size_end_to_end(tmp_path: File) -> None:
    out = run_toy(tmp_path)
    table, cells = (pd.read_csv(out / f"{name}.csv") for name in ("sgd", "sgd_cells"))
    assert len(table) == 5
    assert table["bounded"].iloc[0] == 3
    assert cells["cutoff"].tolist() == [-2, 2, 2]
    assert cells["s_t"].tolist() == ["+", "+", "−"]
    assert cells["accepted"].iloc[2] == 0  # −s_t accepts nothing, so all that is above is missed
    truth = glm(d=5, n=401, noise=0.3, noise_kind="uniform").truth
    assert truth is not None
    assert cells["mistakes"].iloc[2] == pytest.approx((truth > 2).mean(), abs=1.5 / 400)
    assert "Through the pipeline" in (out / "sgd.md").read_text()
    assert matplotlib.image.imread(out / "sgd.png").std() > 0.05


@pytest.mark.slow
def test_the_same_command_writes_the_same_bytes(tmp_path: File) -> None:
    before = {file.name: file.read_bytes() for file in run_toy(tmp_path).iterdir()}
    assert {file.name: file.read_bytes() for file in run_toy(tmp_path).iterdir()} == before

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import matplotlib.image
import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from pipeline.cells.problem import Problem, problem_of
from pipeline.core.links import Linear
from pipeline.core.methods import Setting
from pipeline.core.methods.ours_theory import OursTheory
from pipeline.data.sources import Settings
from pipeline.data.synthetic import glm
from pipeline.theory.__main__ import main
from pipeline.theory.algorithm2 import (
    Followed,
    first_rejected,
    first_rejection,
    follow,
    follow_problem,
    least_root,
    loss_bound,
)
from pipeline.theory.coverage import NEEDED, figure, large
from pipeline.theory.driver import Measured
from pipeline.theory.erm import EXACT, PAPER
from pipeline.theory.sgd import BOUND, TRIVIAL
from pipeline.view.style import LOOKS, look
from tests.core import naive
from tests.core.methods.test_ours_theory import paper_rho
from tests.theory.made_up_results import cell

DATA = Settings(mirror=None, offline=True, cache=Path("unused"))
SMALL = ("experiment=confidence_theory", "dataset.n=60", "dataset.d=2", "protocol.initial.count=30")
TINY = OursTheory(horizon=100, min_eigenvalue=2.0)  # N = B = M = 1, φ = ½, δ = 0.1


def mean_of(link: str) -> object:
    return {"linear": lambda z: z, "logistic": expit}[link]


def small(link: str) -> tuple[object, Problem]:
    made = cell(*SMALL, f"link={link}", "method.min_eigenvalue=1", "method.coef_bound=9")
    made = replace(made, splits=(0,))
    return made, problem_of(made, DATA)


def naive_run(made: object, problem: Problem) -> tuple[list[float], list[float], list[bool], list]:
    """Algorithm 2 as printed: a refit of all rows accepted so far in every round."""
    link, c, m = made.link, 0.4, made.method  # type: ignore[attr-defined]
    X, y, split = problem.dataset.X, problem.dataset.y, problem.splits[0]
    rows = list(split.initial)
    scale = paper_rho(math.e, 2, c, link, m)
    needed, rho, accepted, states = [], [], [], []
    for t, i in enumerate(split.stream, start=1):
        beta = naive.fit(X[rows], y[rows], np.zeros(2), link)
        A = X[rows].T @ X[rows]
        off = beta - problem.dataset.beta
        L = 1.0 if link == "linear" else 0.25
        needed.append(L * math.sqrt(off @ A @ off))
        rho.append(scale * math.sqrt(math.log(t)))
        width = math.sqrt(X[i] @ np.linalg.solve(A, X[i]))
        accepted.append(mean_of(link)(X[i] @ beta) + rho[-1] * width > c)  # type: ignore[operator]
        states.append((beta, A))
        if accepted[-1]:
            rows.append(i)
    return needed, rho, accepted, states


@pytest.mark.parametrize("link", ["linear", "logistic"])
def test_a_run_is_that_of_a_naive_refit(link: str) -> None:
    made, problem = small(link)
    found = follow_problem(made, problem)  # type: ignore[arg-type]
    needed, rho, accepted, _ = naive_run(made, problem)
    np.testing.assert_allclose(found.needed, needed, rtol=1e-6)
    np.testing.assert_allclose(found.rho, rho, rtol=1e-9)
    np.testing.assert_array_equal(found.accepted, accepted)


@pytest.mark.parametrize("link", ["linear", "logistic"])
def test_no_row_asks_for_more_than_is_needed(link: str) -> None:
    """Random rows stay below L·‖β_t − β*‖_A; a short one along A(β_t − β*) comes close to it."""
    made, problem = small(link)
    needed, _, _, states = naive_run(made, problem)
    mean, best = mean_of(link), problem.dataset.beta
    assert best is not None
    rng = np.random.default_rng(0)
    for at_most, (beta, A) in zip(needed[::10], states[::10], strict=True):
        x = rng.normal(size=(2000, 2)) * rng.exponential(size=(2000, 1))
        x[0] = 1e-4 * A @ (beta - best)
        gap = np.abs(mean(x @ best) - mean(x @ beta))  # type: ignore[operator]
        asked = gap / np.sqrt(np.einsum("ij,ij->i", x, np.linalg.solve(A, x.T).T))
        assert asked.max() <= at_most * (1 + 1e-9)
        assert asked[0] == pytest.approx(at_most, rel=1e-3)


def test_round_1_does_not_count() -> None:
    found = Followed(np.array([9.0, 1.0, 6.0]), np.array([0.0, 2.0, 3.0]), np.zeros(3, dtype=bool))
    assert found.worst == 2.0


def test_seeds_have_data_of_their_own_and_repeat() -> None:
    made = cell(*SMALL, "method.min_eigenvalue=1")
    first, other, again = (follow(made, DATA, seed) for seed in (1, 2, 1))
    np.testing.assert_array_equal(first.needed, again.needed)
    assert not np.allclose(first.needed, other.needed)


def test_the_bound_of_theorem_2_by_hand() -> None:
    """d = 2, c = ½, K = 10, T = 100: C = 1 + 0 + ½ + ½·sqrt(log 2000), κ² = 3 + 2 log 2."""
    C = 1.5 + 0.5 * math.sqrt(math.log(2000))
    kappa = math.sqrt(3 + 2 * math.log(2))
    rho = 2 * kappa * C * math.sqrt(4 * math.log(100)) * math.sqrt(math.log(4000))
    by_hand = 10 * C + 2 * rho * math.sqrt(100) * math.sqrt(4 * math.log(102 / 4))
    setting = Setting(Linear(), 2, 0.5)
    assert loss_bound(TINY, setting, 100, 10) == pytest.approx(by_hand)
    assert loss_bound(replace(TINY, horizon=7), setting, 100, 10) == pytest.approx(by_hand)
    assert math.isnan(loss_bound(TINY, setting, 1, 10))  # (λ₀ + T)/(dλ₀) = 3/4


def test_a_batch_counts_in_the_bound() -> None:
    """N = 3 > d = 2, so s = 2."""
    method, setting = replace(TINY, batch_size=3), Setting(Linear(), 2, 0.5)
    C, rho = 1.5 + 0.5 * math.sqrt(math.log(2000)), paper_rho(100, 2, 0.5, "linear", method)
    widths = math.sqrt(2 * 2 * 3 * 2 * math.log((2 + 3 * 100) / 4))
    by_hand = 10 * C + 2 * rho * math.sqrt(300) * widths
    assert loss_bound(method, setting, 100, 10) == pytest.approx(by_hand)


@pytest.mark.parametrize("link", ["linear", "logistic"])
def test_the_predicted_rejection_is_where_the_formula_turns(link: str) -> None:
    made, problem = small(link)
    method = replace(made.method, coef_bound=1.5)  # type: ignore[attr-defined]
    setting = Setting(problem.spec.link, 2, 0.4)
    T = first_rejection(method, setting, 1.0, 30)
    lowest = mean_of(link)(-1.0)  # type: ignore[operator]

    def upper(T: float) -> float:
        rho = paper_rho(T, 2, 0.4, link, replace(method, horizon=T))
        return lowest + rho * math.sqrt(2 / (30 + T))

    assert upper(0.999 * T) > 0.4 > upper(1.001 * T)


def test_the_first_rejection_is_that_of_a_naive_run() -> None:
    """d = 1: x = ±1, so β_t is a mean and A a count."""
    n, K = 6000, 50
    small_bounds = ("method.noise_scale=0.01", "method.coef_bound=1")  # else nothing is rejected
    made = cell(
        *SMALL[:1], f"dataset.n={n}", "dataset.d=1", f"protocol.initial.count={K}", *small_bounds
    )
    table = glm(d=1, n=n, noise=0.5, noise_kind="uniform", features="sphere", seed=3)
    stream = problem_of(
        replace(made, dataset={**made.dataset, "seed": 3}, splits=(0,)), DATA
    ).splits[0]
    rows, found = list(stream.initial), None
    total, count = float((table.X[rows, 0] * table.y[rows]).sum()), K
    scale = paper_rho(math.e, 1, 0.4, "linear", replace(made.method, horizon=n))
    for t, i in enumerate(stream.stream, start=1):
        x = table.X[i, 0]
        bonus = scale * math.sqrt(math.log(t) / count)
        if x * total / count + bonus > 0.4:
            total, count = total + x * table.y[i], count + 1
        elif t > 1:
            found = t
            break
    assert found is not None
    assert first_rejected(made, DATA, n, 3) == found
    assert first_rejected(made, DATA, 500, 3) is None


def test_least_root() -> None:
    assert least_root(lambda T: 1000.0 - T) == pytest.approx(1000)
    assert least_root(lambda _: 1.0) == math.inf


def test_large_numbers_are_readable() -> None:
    assert large(786_000) == "7.9·10⁵"
    assert large(math.inf) == "∞"


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["method.min_eigenvalue=1000"], "method.min_eigenvalue is no bound on these data: 1000 >"),
        (["method.coef_bound=0.5"], "method.coef_bound is no bound on these data: 1 > 0.5"),
        (["dataset.features=normal"], "method.feature_bound is no bound on these data"),
    ],
)
def test_constants_that_bound_nothing_are_refused(overrides: list[str], message: str) -> None:
    made = cell(*SMALL, "method.min_eigenvalue=1", *overrides)
    with pytest.raises(ValueError, match=message):
        follow(made, DATA, 0)


def test_a_method_without_rho_is_refused() -> None:
    with pytest.raises(ValueError, match="method ours has no ρ_t: choose method=ours_theory"):
        follow(cell("experiment=confidence"), DATA, 0)


def test_a_number_of_runs_that_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["coverage", "--runs", "0", "--out", "x"])
    assert "'0' is not a whole number of at least 1" in capsys.readouterr().err


def test_the_figure_shows_the_tables() -> None:
    widths = pd.DataFrame(
        {
            "link": "linear",
            "round": [2, 100],
            "rho": [50.0, 90.0],
            "needed_median": [1.0, 1.0],
            "needed_95": 2.0,
            "needed_max": 3.0,
        }
    )
    bound = pd.DataFrame(
        {
            "link": "linear",
            "rounds": [100, 1000],
            "bound": [1e4, 1e5],
            "loss": [10.0, 90.0],
            "ours_loss": [1.0, 2.0],
            "tuned_alpha": [0.5, 0.25],
        }
    )
    left, right = figure(Measured({"widths": widths, "bound": bound}, [])).axes
    np.testing.assert_allclose(left.lines[0].get_ydata(), [50.0, 90.0])
    np.testing.assert_allclose(left.lines[1].get_ydata(), 3.0)
    np.testing.assert_allclose(right.lines[0].get_ydata(), [1e4, 1e5])
    np.testing.assert_allclose(right.lines[1].get_ydata(), [10.0, 90.0])
    assert left.get_title() == "linear link, T = 100"
    for axis, label, height in ((left, "alpha of ours", 0.5), (right, "R_T of ours", 1.0)):
        (line,) = [line for line in axis.lines if str(line.get_label()).startswith(label)]
        assert line.get_color() == look("ours").colour
        assert line.get_ydata()[0] == height  # of T = 100, as many rounds as ρ_t is drawn for


def test_what_is_no_method_has_no_methods_colour() -> None:
    methods = {known.colour for name, known in LOOKS.items() if name != "greedy"}
    assert {NEEDED, EXACT, PAPER, BOUND, TRIVIAL}.isdisjoint(methods)


def run_toy(folder: Path) -> Path:
    """Run the command; `ours` has no constants, so that overrides of the method pass it by."""
    toy = [
        "--runs",
        "4",
        "--sizes",
        "90",
        "140",
        "--long",
        "300",
        "protocol.initial.count=60",
        "method.min_eigenvalue=1",
        "method.coef_bound=6",  # no fit is projected, which takes its time
        "tracking=none",
        "splits=2",
        "n_jobs=1",
        f"outputs={folder}/o",
        "tracking=none",
    ]
    assert main(["coverage", *toy, "--out", f"{folder}/out"]) == 0
    return folder / "out"


def test_toy_size_end_to_end(tmp_path: Path) -> None:
    out = run_toy(tmp_path)
    coverage, bound = (pd.read_csv(out / f"{name}.csv") for name in ("coverage", "bound"))
    assert coverage["link"].tolist() == ["linear", "logistic"]
    assert coverage["held"].tolist() == [4, 4]
    assert coverage["rounds"].tolist() == [30, 30]
    assert (coverage["worst_max"] < 1).all()
    assert bound["rounds"].tolist() == [30, 30, 80, 80]
    assert (bound["bound"] > bound["loss"]).all()
    assert (bound["tuned_over_rho"] < 0.2).all()
    assert "statement holds" in (out / "coverage.md").read_text()
    assert matplotlib.image.imread(out / "coverage.png").std() > 0.05


@pytest.mark.slow
def test_the_same_command_writes_the_same_bytes(tmp_path: Path) -> None:
    before = {file.name: file.read_bytes() for file in run_toy(tmp_path).iterdir()}
    assert {file.name: file.read_bytes() for file in run_toy(tmp_path).iterdir()} == before

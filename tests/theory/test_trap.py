from __future__ import annotations

from pathlib import Path

import matplotlib.image
import numpy as np
import pandas as pd
import pytest
from scipy import stats

from pipeline.theory.__main__ import main
from pipeline.theory.driver import Measured, results_of
from pipeline.theory.trap import Runs, exact_at_once, figure, gather, page, row_of
from tests.theory.made_up_results import cell, trapped

T = np.arange(1.0, 101.0)
TOY = ("dataset.n=1000", "dataset.d=3", "tracking=none", "n_jobs=1")


def three_runs() -> Runs:
    """One run that rejects v at once, one that loses it later, one that keeps it."""
    first = trapped("greedy", [0, 4], [10, 6], np.vstack([0.2 * T, 5 + 0.1 * T]))
    second = trapped("greedy", [10], [0], np.vstack([0.0 * T + 3]), seed=1)
    (runs,) = gather([first, second])
    return runs


def test_a_run_has_lost_v_if_it_missed_any() -> None:
    row = row_of(three_runs())
    assert (row["runs"], row["lost"], row["at_once"]) == (3, 2, 1)
    assert row["lost_share"] == pytest.approx(2 / 3)
    assert row["lost_low"] < 2 / 3 < row["lost_high"]  # type: ignore[operator]


def test_the_slope_is_the_mean_of_the_runs_slopes() -> None:
    row = row_of(three_runs())
    for name in ("slope", "slope_first_half", "slope_second_half"):
        assert row[name] == pytest.approx((0.2 + 0.1 + 0.0) / 3)
    assert row["slope_low"] == pytest.approx(0.0, abs=1e-12)
    assert row["slope_high"] == pytest.approx(0.2)
    assert row["slope_of_v"] == pytest.approx(2 / 3 * 0.1 * 0.25)  # share and τ of the experiment
    assert row["average_loss"] == pytest.approx(np.mean([20, 15, 3]) / 100)


def test_alpha_may_not_differ_between_runs() -> None:
    one = trapped("ours", [1], [0], np.vstack([T]))
    other = trapped("ours", [1], [0], np.vstack([T]), seed=1)
    other.outcome.summary["alpha"] = 2.0
    with pytest.raises(ValueError, match="one alpha"):
        gather([one, other])


def test_the_exact_chance_of_a_rejection_at_once_is_that_of_a_naive_warm_start() -> None:
    """Draw warm starts and their labels, average the labels of v, count."""
    made = cell("experiment=greedy_trap")
    rng = np.random.default_rng(0)
    counts = rng.binomial(80, 0.1, size=200_000)
    counts = counts[counts > 0]
    means = 0.25 + rng.standard_normal(len(counts)) / np.sqrt(counts)
    assert exact_at_once(made) == pytest.approx((means < 0).mean(), abs=0.004)
    assert exact_at_once(made) > stats.norm.cdf(-1)  # as τ ≤ 1/√n′ nearly always


def test_the_figure_has_a_panel_a_link_and_parts_of_greedy() -> None:
    runs = three_runs()
    (axis,) = figure(Measured({}, [runs])).axes
    assert axis.get_ylim()[0] == 0
    mean, lost, kept = (line.get_ydata() for line in axis.lines)
    np.testing.assert_allclose(mean, (0.2 * T + 5 + 0.1 * T + 3) / 3 / T)
    np.testing.assert_allclose(lost, (0.2 * T + 5 + 0.1 * T) / 2 / T)
    np.testing.assert_allclose(kept, 3 / T)
    assert axis.get_title() == "linear link, 1 row a round"


def test_the_page_has_the_figures_of_the_table() -> None:
    runs = three_runs()
    text = page(Measured({"trap": pd.DataFrame([row_of(runs)])}, [runs])).markdown()
    assert "| linear | greedy | – | 3 | 0.667 (" in text
    assert f"E[Φ(−τ√n′/σ)] = {exact_at_once(runs.cell):.3f}" in text
    assert "n = 10,000, d = 20, c = 0, τ = 0.25, P(v) = 0.1, ridge 0, 1 row(s)" in text


def naive_greedy(X: np.ndarray, y: np.ndarray, n_initial: int, cutoff: float) -> np.ndarray:
    """Return greedy's decisions, refitting by least squares after every row."""
    rows, labels = list(X[:n_initial]), list(y[:n_initial])
    accepted = np.zeros(len(X) - n_initial, dtype=bool)
    for k in range(n_initial, len(X)):
        beta = np.linalg.lstsq(np.array(rows), np.array(labels), rcond=None)[0]
        accepted[k - n_initial] = X[k] @ beta > cutoff
        if accepted[k - n_initial]:
            rows.append(X[k])
            labels.append(y[k])
    return accepted


def test_greedy_loses_v_where_a_naive_loop_does(tmp_path: Path) -> None:
    from pipeline.data.splits import stratified_split
    from pipeline.data.synthetic import greedy_trap

    seeds, n = range(6), 300
    small = (
        f"dataset.n={n}",
        "dataset.d=3",
        "method=greedy",
        "protocol.initial.share=0.2",
        *TOY[2:],
    )
    over = ",".join(map(str, seeds))
    (runs,) = gather(
        results_of(
            ["greedy_trap"],
            [*small, f"dataset.seed={over}", f"outputs={tmp_path}", "tracking=none"],
        )
    )
    expected = []
    for seed in seeds:
        data = greedy_trap(d=3, n=n, cutoff=0.0, gap=0.25, coef_norm=3.0, seed=seed)
        split = stratified_split(data.y, 60, 0, 0)
        order = np.concatenate([split.initial, split.stream])
        accepted = naive_greedy(data.X[order], data.y[order], 60, 0.0)
        on_v = data.X[split.stream, 0] == 1.0
        first = np.argmax(on_v & ~accepted) if (on_v & ~accepted).any() else n
        assert not accepted[first:][on_v[first:]].any()  # once lost, lost for ever
        expected.append((accepted[on_v].sum(), (~accepted[on_v]).sum()))
    assert list(zip(runs.accepted, runs.missed, strict=True)) == expected
    assert 0 < (runs.missed > 0).sum() < len(seeds)


def test_from_the_command_to_the_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    places = (f"outputs={tmp_path / 'outputs'}", "tracking=none", "--out", str(tmp_path / "trap"))
    assert main(["trap", *TOY, "dataset.seed=0,1", *places]) == 0
    said = capsys.readouterr().out
    assert "logistic, ours: v lost in" in said
    table = pd.read_csv(tmp_path / "trap" / "trap.csv")
    assert table[["link", "method", "runs"]].to_numpy().tolist() == [
        ["linear", "greedy", 2], ["linear", "ours", 2],
        ["logistic", "greedy", 2], ["logistic", "ours", 2],
    ]  # fmt: skip
    assert (tmp_path / "trap" / "trap.md").read_text().startswith("# Theorem 1")
    assert matplotlib.image.imread(tmp_path / "trap" / "trap.png").std() > 0.01
    before = {path: path.read_bytes() for path in (tmp_path / "trap").iterdir()}
    assert main(["trap", *TOY, "dataset.seed=0,1", *places]) == 0
    assert {path: path.read_bytes() for path in (tmp_path / "trap").iterdir()} == before

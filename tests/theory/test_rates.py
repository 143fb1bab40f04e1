from __future__ import annotations

from pathlib import Path

import matplotlib.image
import numpy as np
import pandas as pd
import pytest

from pipeline.theory.__main__ import main
from pipeline.theory.driver import Measured, Result
from pipeline.theory.rates import (
    EXPERIMENTS,
    Growth,
    bound_of,
    figure,
    gather,
    losses_table,
    page,
    powers_table,
)
from pipeline.view.style import look
from tests.theory.made_up_results import sized

SIZES = (1020, 10020, 100020)
POWERS = {("glm", "greedy"): 0.1, ("glm", "ours"): 0.2, ("greedy_trap", "greedy"): 1.0}


def made_up() -> list[Result]:
    """R_T = (1 + seed)·T^p, with T = n − 20."""
    return [
        sized(dataset, method, n, seed, (1 + seed) * (n - 20.0) ** power)
        for (dataset, method), power in POWERS.items()
        for n in SIZES
        for seed in range(3)
    ]


def measured(every: list[Growth]) -> Measured[Growth]:
    return Measured({"powers": powers_table(every), "losses": losses_table(every)}, every)


@pytest.fixture(scope="module")
def every() -> list[Growth]:
    return gather(made_up())


def test_sizes_are_the_rows_decided_on(every: list[Growth]) -> None:
    for growth in every:
        assert growth.sizes.tolist() == [1000, 10000, 100000]
        assert growth.losses.shape == (3, 3)
        np.testing.assert_allclose(growth.accepted, 0.5)


def test_the_powers_are_those_the_losses_were_made_of(every: list[Growth]) -> None:
    table = powers_table(every).set_index(["dataset", "method"])
    for key, power in POWERS.items():
        assert table.loc[key, "power"] == pytest.approx(power)
        assert table.loc[key, "last_step"] == pytest.approx(power)
        assert table.loc[key, "low"] == pytest.approx(power)
    assert table.loc[("greedy_trap", "greedy"), "bound"] == 1.0
    assert np.isnan(table.loc[("glm", "greedy"), "bound"])


def test_the_bounds_are_those_of_the_paper() -> None:
    found = {method: bound_of(method, "glm") for method in ("passive", "ours", "ours_theory")}
    assert [(b.power, b.source) for b in found.values() if b] == [
        (pytest.approx(2 / 3), "Proposition 1"), (0.5, "Theorem 2"), (0.5, "Theorem 2"),
    ]  # fmt: skip
    proved, tuned = bound_of("ours_theory", "glm"), bound_of("ours", "glm")
    assert proved is not None
    assert tuned is not None
    assert proved.kind == "at most"  # nothing is proved of an alpha that is not ρ_t
    assert tuned.kind != "at most"
    assert bound_of("sgd", "glm") is None
    assert bound_of("greedy", "glm") is None


def test_the_losses_are_means_over_runs(every: list[Growth]) -> None:
    table = losses_table(every)
    row = table[(table["dataset"] == "greedy_trap") & (table["T"] == 10_000)].iloc[0]
    assert row["loss"] == pytest.approx(20_000)
    assert 10_000 <= row["low"] < row["loss"] < row["high"] <= 30_000


def test_a_size_that_a_seed_lacks_is_named() -> None:
    with pytest.raises(ValueError, match=r"greedy_trap, greedy: each seed needs a run of every"):
        gather(made_up()[:-1])


def test_the_figure_names_each_line_with_its_power(every: list[Growth]) -> None:
    left, right = figure(measured(every)).axes
    texts = [text.get_text() for text in left.texts]
    for method in ("greedy", "ours"):
        wanted = f"{look(method).label}: $T^{{{POWERS['glm', method]:.2f}}}$"
        assert wanted in texts
    (line,) = [line for line in right.lines if line.get_marker() == "s"]
    np.testing.assert_allclose(line.get_ydata(), 2 * np.array([1e3, 1e4, 1e5]))


def test_names_in_the_figure_keep_their_distance() -> None:
    same = [sized("glm", m, n, 0, 1.0 * n) for m in ("sgd", "ours_theory", "ours") for n in SIZES]
    (axis,) = figure(measured(gather(same))).axes
    named = [text for text in axis.texts if ":" in text.get_text()]
    heights = sorted(axis.transAxes.inverted().transform(axis.transData.transform(t.xy))[1]
                     for t in named)  # fmt: skip
    assert len(heights) == 3
    assert min(np.diff(heights)) > 0.05


def test_the_page_has_powers_and_bounds(every: list[Growth]) -> None:
    text = page(measured(every)).markdown()
    assert "| 1.00 (1.00 – 1.00) | 1.00 | at least, in the trap 1.00 (Theorem 1) |" in text
    assert "| glm | ours | 1,000 – 100,000 | 3 | 0.20 (0.20 – 0.20) |" in text


def test_from_the_command_to_the_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    toy = ["dataset.n=100,200", "dataset.seed=0,1", "tracking=none", "n_jobs=1"]
    places = [f"outputs={tmp_path / 'outputs'}", "tracking=none", "--out", str(tmp_path / "rates")]
    assert main(["rates", *toy, *places]) == 0
    assert "greedy_trap, sgd: R_T ~ T^" in capsys.readouterr().out
    table = pd.read_csv(tmp_path / "rates" / "powers.csv")
    assert len(table) == 12  # two datasets, six methods
    assert set(table["runs"]) == {2}
    losses = pd.read_csv(tmp_path / "rates" / "losses.csv")
    assert set(losses["T"]) == {95, 190}
    everything = losses[losses["method"] == "ours_theory"]
    assert (everything["accepted"] > 0.95).all()
    assert matplotlib.image.imread(tmp_path / "rates" / "rates.png").std() > 0.01
    assert len(EXPERIMENTS) == 4

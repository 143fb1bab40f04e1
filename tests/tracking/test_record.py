"""What MLflow is told, without MLflow: names, short values, the points of the curve."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pipeline.results.journal import Run
from pipeline.tracking.record import CURVE_POINTS, MOST_GROUPS, Point, _powers, record_of
from pipeline.tracking.sweep import span
from tests.tracking.made import ALPHAS, ROUNDS, TODAY, make_failure, make_run


def test_params_are_short_and_in_the_projects_nouns(tmp_path: Path) -> None:
    params = record_of(make_run(tmp_path), TODAY).params
    assert params == {
        "dataset": "diabetes",
        "protocol": "inferred",
        "link": "linear",
        "cutoff": "0.5",
        "method": "ours",
        "method.horizon": "10000",
        "alphas": "2^-10 … 2^4",
        "splits": "0-9",
        "seed": "0",
        "curve_points": "1000",
        "initial.share": "0.05",
        "initial.count": "1000",
        "batch_size": "1",
        "time": "rounds",
        "model.regularization": "1.0",
    }


@pytest.mark.parametrize(
    ("alphas", "shown"),
    [
        ([0.0], "0"),
        ([0.5], "0.5"),
        ([0.5, 1.0, 2.0], "2^-1 … 2^1"),
        ([0.5, 1.0, 4.0], "0.5, 1, 4"),
        ([0.0, 1.0, 2.0], "0, 1, 2"),
        ([3.0, 6.0, 12.0], "3, 6, 12"),
    ],
)
def test_alphas_are_shown_compactly(alphas: list[float], shown: str) -> None:
    assert _powers(alphas) == shown


@pytest.mark.parametrize(
    ("splits", "shown"), [([0], "0"), ([0, 1, 2], "0-2"), ([2, 4], "2, 4"), ([1, 0], "1, 0")]
)
def test_splits_are_shown_compactly(splits: list[int], shown: str) -> None:
    assert span(splits) == shown


def curve(points: list[Point], name: str) -> tuple[list[int], list[float]]:
    found = [(step, value) for key, step, value in points if key == name]
    return [step for step, _ in found], [value for _, value in found]


def test_points_are_the_mean_over_splits_of_the_cumulative_and_the_average_loss(
    tmp_path: Path,
) -> None:
    entry = make_run(tmp_path)
    frame = pd.read_parquet(f"{entry.folder}/curves.parquet")
    truth = frame["loss"].groupby(frame["round"]).mean()
    points = record_of(entry, TODAY).points
    steps, cumulative = curve(points, "cumulative_loss")
    same, average = curve(points, "average_loss")
    assert steps == same
    np.testing.assert_allclose(cumulative, truth.loc[steps])
    np.testing.assert_allclose(average, truth.loc[steps] / steps)
    assert len(steps) == CURVE_POINTS
    assert (steps[0], steps[-1]) == (1, ROUNDS)
    assert set(np.diff(steps)) <= {7, 8}


@pytest.mark.parametrize(("batch", "last"), [(1, 739), (100, 73_850), (100, 73_801), (2, 1478)])
def test_steps_are_cases_seen_also_where_a_round_has_many(
    batch: int, last: int, tmp_path: Path
) -> None:
    entry = make_run(tmp_path, batch=batch, n_stream=last)
    points = record_of(entry, TODAY).points
    frame = pd.read_parquet(f"{entry.folder}/curves.parquet")
    truth = frame["loss"].groupby(frame["round"]).mean()
    cases, cumulative = curve(points, "cumulative_loss")
    _, average = curve(points, "average_loss")
    assert (cases[0], cases[-1]) == (batch, last)
    assert all(step % batch == 0 for step in cases[:-1])
    np.testing.assert_allclose(cumulative[-1], truth.loc[ROUNDS])
    np.testing.assert_allclose(average, np.array(cumulative) / cases)


def test_the_loss_of_every_alpha_is_a_curve_over_its_exponent(tmp_path: Path) -> None:
    entry = make_run(tmp_path)
    steps, losses = curve(record_of(entry, TODAY).points, "loss_by_log2_alpha")
    frame = pd.read_parquet(f"{entry.folder}/losses.parquet")
    assert [2.0**step for step in steps] == ALPHAS
    np.testing.assert_allclose(losses, frame["loss"].groupby(frame["alpha"]).mean())


def test_other_alphas_are_counted(tmp_path: Path) -> None:
    alphas = [0.0, 0.3, 1.0]
    points = record_of(make_run(tmp_path, alphas=alphas), TODAY).points
    assert curve(points, "loss_by_alpha_number")[0] == [1, 2, 3]
    alone = record_of(make_run(tmp_path, "greedy", alphas=[0.0]), TODAY).points
    assert {key for key, _, _ in alone} == {"cumulative_loss", "average_loss"}


def test_groups_are_figures(tmp_path: Path) -> None:
    metrics = record_of(make_run(tmp_path, groups=["a", "näh/x", "n_h_x"]), TODAY).metrics
    names = {"a", "n_h_x", "n_h_x 3"}
    assert {key for key in metrics if key.startswith("group_loss_")} == {
        f"group_loss_{name}" for name in names
    }
    assert metrics["group_accepted_rate_a"] == 1.0
    assert metrics["group_missed_rate_a"] == 1.0


def test_only_the_largest_of_many_groups_are_figures(tmp_path: Path) -> None:
    metrics = record_of(make_run(tmp_path, groups=[f"g{k}" for k in range(40)]), TODAY).metrics
    assert sum(key.startswith("group_") for key in metrics) == 3 * MOST_GROUPS


def test_a_figure_of_nothing_is_left_out(tmp_path: Path) -> None:
    metrics = record_of(make_run(tmp_path), TODAY).metrics
    assert "missed_rate" not in metrics
    assert set(metrics) == {"alpha", "loss", "loss_se", "accepted_rate", "cutoff_value"}


def test_a_failure_has_a_reason_and_no_figures(tmp_path: Path) -> None:
    record = record_of(make_failure(tmp_path), TODAY)
    assert record.tags["reason"] == "the matrix is singular"
    assert record.params["method"] == "noise"
    assert (record.metrics, record.points) == ({}, [])


def test_a_job_that_failed_before_it_had_a_folder() -> None:
    record = record_of(Run(3, "failed", reason="no such method"), TODAY)
    assert record.name == "job 3"
    assert record.params == {}


def test_options_of_any_name_and_length_are_taken(tmp_path: Path) -> None:
    options = f"'größe (m²)': 1, long: {'x' * 10_000}"
    params = record_of(make_run(tmp_path, options=options), TODAY).params
    assert params["method.gr__e _m__"] == "1"
    assert len(params["method.long"]) == 500

"""What MLflow is told, without MLflow: names, short values, the points of the curve."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pipeline.results.journal import Run
from pipeline.tracking.record import CURVE_POINTS, _powers, _range, record_of
from tests.tracking.made import ROUNDS, make_failure, make_run


def test_params_are_short_and_in_the_projects_nouns(tmp_path: Path) -> None:
    params = record_of(make_run(tmp_path), "s").params
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
    assert _range(splits) == shown


def test_points_are_the_mean_over_splits_of_the_average_loss(tmp_path: Path) -> None:
    entry = make_run(tmp_path)
    frame = pd.read_parquet(f"{entry.folder}/curves.parquet")
    truth = (frame["loss"] / frame["round"]).groupby(frame["round"]).mean()
    points = record_of(entry, "s").points
    steps = [step for step, _ in points]
    np.testing.assert_allclose([y for _, y in points], truth.loc[steps])
    assert len(points) == CURVE_POINTS
    assert (steps[0], steps[-1]) == (1, ROUNDS)
    assert set(np.diff(steps)) <= {3, 4}


def test_a_figure_of_nothing_is_left_out(tmp_path: Path) -> None:
    metrics = record_of(make_run(tmp_path), "s").metrics
    assert "missed_rate" not in metrics
    assert set(metrics) == {"alpha", "loss", "loss_se", "accepted_rate", "cutoff_value"}


def test_a_failure_has_a_reason_and_no_figures(tmp_path: Path) -> None:
    record = record_of(make_failure(tmp_path), "s")
    assert record.tags["reason"] == "the matrix is singular"
    assert record.params["method"] == "noise"
    assert (record.metrics, record.points) == ({}, [])


def test_a_job_that_failed_before_it_had_a_folder() -> None:
    record = record_of(Run(3, "failed", reason="no such method"), "s")
    assert record.name == "job 3"
    assert record.params == {}


def test_options_of_any_name_and_length_are_taken(tmp_path: Path) -> None:
    options = f"'größe (m²)': 1, long: {'x' * 10_000}"
    params = record_of(make_run(tmp_path, options=options), "s").params
    assert params["method.gr__e _m__"] == "1"
    assert len(params["method.long"]) == 500

"""A whole experiment from one command: the run folders of a sweep, gathered."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.command_line import REFUSED
from pipeline.paper.collection import Collection
from pipeline.reproduce import main
from pipeline.results.journal import find_sweeps
from pipeline.sync import sync
from pipeline.tracking.store import client_of, experiment_id, store_uri

DONE = 0
TOY = ("experiment=smoke", "dataset=blood", "link=linear", "splits=2", "alpha=[0.1,1]", "n_jobs=1")


def test_an_experiment_is_run_and_gathered(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "gathered"
    command = [*TOY, f"outputs={tmp_path / 'outputs'}", "--out", str(out)]
    assert main(command) == DONE
    found = Collection.read(out)
    assert sorted(set(found.cells["method"])) == ["greedy", "margin", "ours"]
    assert set(found.cells["state"]) == {"done"}
    assert len(found.losses) == 2 * (1 + 2 + 2) * 2  # cutoffs × alphas of the methods × splits
    best = found.losses.groupby(["cutoff", "method", "alpha"])["loss"].mean()
    for row in found.cells.itertuples():
        assert row.loss == pytest.approx(best[row.cutoff, row.method].min())
    assert "6 computed now: 20 online runs" in capsys.readouterr().out
    assert main(command) == DONE
    assert "0 computed now" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["experiment=papre"], "did you mean 'paper'?"),
        ([*TOY, "force=no"], "force=no is neither true nor false"),
        ([*TOY, "data.offline=no"], "data.offline=no is neither true nor false"),
    ],
)
def test_what_makes_no_sense_is_refused(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*arguments, "--out", str(tmp_path)]) == REFUSED
    assert message in capsys.readouterr().err


def test_mlflow_is_told_of_each_cell_once(tmp_path: Path) -> None:
    outputs = tmp_path / "outputs"
    command = [*TOY, f"outputs={outputs}", "--out", str(tmp_path / "gathered")]
    assert main([*command, "method=ours"]) == DONE
    assert main([*command, "method=ours,margin"]) == DONE  # two of them are known
    assert main(command) == DONE
    assert main(command) == DONE
    assert len(list(find_sweeps(outputs))) == 3  # the last had nothing to log
    assert sync(outputs, store_uri(None, outputs)) == 0
    folders = Collection.read(tmp_path / "gathered").cells["folder"]
    client = client_of(store_uri(None, outputs))
    runs = client.search_runs([experiment_id(store_uri(None, outputs), "onesided", outputs)])
    jobs = [run for run in runs if "hash" in run.data.tags]
    assert sorted(run.data.tags["hash"] for run in jobs) == sorted(
        Path(folder).name for folder in folders
    )
    assert all(run.data.metrics["loss"] >= 0 for run in jobs)
    assert all({"alpha", "cumulative_loss", "average_loss"} <= set(r.data.metrics) for r in jobs)
    assert {run.info.status for run in runs} == {"FINISHED"}
    for run in runs:
        if run not in jobs:
            assert " · " in run.info.run_name
            assert {"sweep_cells", "mean_loss_ours"} <= set(run.data.metrics)
    parents = {run.info.run_id: run.data.tags["command"] for run in runs if run not in jobs}
    assert {run.data.tags["mlflow.parentRunId"] for run in jobs} == set(parents)
    assert all(line.startswith("python -m pipeline.run -m") for line in parents.values())


def test_without_tracking_mlflow_is_not_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    outputs = tmp_path / "outputs"
    command = [*TOY, f"outputs={outputs}", "tracking=none", "--out", str(tmp_path / "gathered")]
    assert main(command) == DONE
    assert "MLflow" not in capsys.readouterr().err
    assert [path.name for path in outputs.iterdir()] == ["runs"]


def test_a_server_that_is_down_costs_no_result(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    outputs = tmp_path / "outputs"
    command = [*TOY, f"outputs={outputs}", "--out", str(tmp_path / "gathered")]
    assert main([*command, "tracking.uri=http://127.0.0.1:9"]) == DONE
    assert "log them later with: python -m pipeline.sync" in capsys.readouterr().err
    assert sync(outputs, store_uri(None, outputs)) == 6

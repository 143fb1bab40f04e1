"""What MLflow holds in the end, read back with its client and compared with the files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from pipeline.tracking.record import CURVE_POINTS
from pipeline.tracking.store import client_of
from pipeline.tracking.sweep import Sweep
from pipeline.tracking.tracker import TrackingError, close_sweep, log_job, open_sweep
from tests.tracking.made import HASH, TODAY, make_failure, make_run

if TYPE_CHECKING:  # it takes seconds to import, also in a session that runs other tests
    from mlflow.entities import Run
    from mlflow.tracking import MlflowClient

SETTINGS = {"name": "mlflow", "uri": None, "experiment": "onesided"}
ABOUT = {"command": "python -m pipeline.run -m method=ours,margin", "jobs": 3, "sweep": "today"}


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("my outputs")


@pytest.fixture(scope="module")
def tracking(outputs: Path) -> dict[str, Any]:
    found = open_sweep(SETTINGS, outputs, Sweep(ABOUT), many=True)
    assert found is not None
    return found


@pytest.fixture(scope="module")
def client(tracking: dict[str, Any]) -> MlflowClient:
    from mlflow.tracking import MlflowClient

    return MlflowClient(tracking["uri"])


@pytest.fixture(scope="module")
def runs(outputs: Path, tracking: dict[str, Any], client: MlflowClient) -> dict[str, Run]:
    jobs = {
        "ours": make_run(outputs, "ours", groups=["a"]),
        "margin": make_run(outputs, "margin", 1).but(state="kept"),
        "noise": make_failure(outputs, "noise", 2),
    }
    ids = {method: log_job(tracking, entry, TODAY) for method, entry in jobs.items()}
    return {method: client.get_run(number) for method, number in ids.items()}


def test_where_jobs_are_to_be_logged_can_be_written_down(
    outputs: Path, tracking: dict[str, Any]
) -> None:
    assert json.loads(json.dumps(tracking)) == tracking
    assert set(tracking) == {"uri", "experiment", "experiment_id", "parent"}
    assert (outputs / "mlflow.db").exists()


def test_the_curve_is_the_mean_over_splits_of_the_average_loss(
    client: MlflowClient, runs: dict[str, Run]
) -> None:
    for method in ("ours", "margin"):
        run = runs[method]
        history = client.get_metric_history(run.info.run_id, "average_loss")
        frame = pd.read_parquet(f"{run.data.tags['run_folder']}/curves.parquet")
        truth = (frame["loss"] / frame["round"]).groupby(frame["round"]).mean()
        steps = [point.step for point in history]
        assert len(steps) == CURVE_POINTS
        assert steps[-1] == frame["round"].max()
        np.testing.assert_allclose([point.value for point in history], truth.loc[steps])


def test_figures_are_those_of_the_summary(runs: dict[str, Run]) -> None:
    run = runs["ours"]
    summary = json.loads(Path(run.data.tags["run_folder"], "summary.json").read_text())
    names = {"alpha": "alpha", "loss": "loss", "loss_se": "standard_error"}
    for ours, theirs in {**names, "accepted_rate": "accepted_rate"}.items():
        assert run.data.metrics[ours] == summary[theirs]


def test_tags_are_the_projects_nouns(runs: dict[str, Run], tracking: dict[str, Any]) -> None:
    expected = {
        "dataset": "diabetes", "link": "linear", "cutoff": "0.5", "method": "ours",
        "protocol": "inferred", "sweep": "today", "state": "computed", "hash": "abcdef012345",
        "commit": "c0ffee" * 6 + "c0ff+", "mlflow.parentRunId": tracking["parent"],
    }  # fmt: skip
    assert expected.items() <= runs["ours"].data.tags.items()
    assert runs["margin"].data.tags["state"] == "kept"
    assert runs["ours"].info.run_name == "ours 50% diabetes linear"
    assert runs["ours"].data.params["alphas"] == "2^-10 … 2^4"


def test_files_are_there_unchanged(
    client: MlflowClient, runs: dict[str, Run], tmp_path: Path
) -> None:
    names = {file.path for file in client.list_artifacts(runs["ours"].info.run_id)}
    assert names == {
        "config.yaml", "summary.json", "environment.json", "curves.parquet", "losses.parquet",
        "groups.parquet",
    }  # fmt: skip
    found = Path(client.download_artifacts(runs["ours"].info.run_id, "", str(tmp_path)))
    folder = Path(runs["ours"].data.tags["run_folder"])
    for name in names:
        assert (found / name).read_bytes() == (folder / name).read_bytes()


def test_artifacts_are_under_outputs(outputs: Path, runs: dict[str, Run]) -> None:
    run = runs["ours"].info.run_id
    assert (outputs / "mlartifacts" / run / "artifacts" / "config.yaml").exists()


def test_the_dataset_is_an_input(runs: dict[str, Run]) -> None:
    (used,) = runs["ours"].inputs.dataset_inputs
    assert (used.dataset.name, used.dataset.digest) == ("diabetes", HASH[:12])
    assert json.loads(used.dataset.source) == {"found in": "bundled", "hash": HASH}


def test_a_failed_job_is_there_too(client: MlflowClient, runs: dict[str, Run]) -> None:
    run = runs["noise"]
    assert run.info.status == "FAILED"
    assert run.data.tags["reason"] == "the matrix is singular"
    names = {file.path for file in client.list_artifacts(run.info.run_id)}
    assert names == {"config.yaml", "traceback.txt"}
    assert runs["ours"].info.status == "FINISHED"


def test_a_run_lasts_as_long_as_its_job(runs: dict[str, Run]) -> None:
    info = runs["ours"].info
    assert info.end_time - info.start_time == 1500


def test_the_parent_ends_with_its_sweep(
    client: MlflowClient, tracking: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / "summary.csv").write_text("a,b\n")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    (tmp_path / "sweep.json").write_text("{}")
    assert client.get_run(tracking["parent"]).info.status == "RUNNING"
    close_sweep(tracking, 2, tmp_path)
    parent = client.get_run(tracking["parent"])
    assert (parent.info.status, parent.data.tags["failed"]) == ("FAILED", "2")
    assert ABOUT["command"] in parent.data.tags["mlflow.note.content"]
    names = {file.path for file in client.list_artifacts(tracking["parent"])}
    assert names == {"summary.csv", "picture.png"}
    close_sweep(tracking, 0, None)
    assert client.get_run(tracking["parent"]).info.status == "FINISHED"
    close_sweep(tracking, 1, None, killed=True)
    assert client.get_run(tracking["parent"]).info.status == "KILLED"


def test_a_single_job_has_no_parent(outputs: Path, client: MlflowClient) -> None:
    tracking = open_sweep(SETTINGS, outputs, Sweep(ABOUT), many=False)
    assert tracking is not None
    assert tracking["parent"] is None
    run = client.get_run(log_job(tracking, make_run(outputs), TODAY))
    assert "mlflow.parentRunId" not in run.data.tags
    close_sweep(tracking, 0, None)


def test_many_params_are_all_logged(outputs: Path, tracking: dict[str, Any], client: Any) -> None:
    options = ", ".join(f"p{k}: {k}" for k in range(250))
    entry = make_run(outputs, "greedy", 5, options=options)
    params = client.get_run(log_job(tracking, entry, TODAY)).data.params
    assert {f"method.p{k}": str(k) for k in range(250)}.items() <= params.items()


def test_half_a_run_is_not_left_behind(
    outputs: Path, tracking: dict[str, Any], client: MlflowClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(client_of(tracking["uri"]), "log_artifact", full)
    entry = make_run(outputs, "os_noise", 6)
    with pytest.raises(TrackingError, match="the disk is full; results are saved"):
        log_job(tracking, entry, TODAY)
    found = client.search_runs([tracking["experiment_id"]], "tags.method = 'os_noise'")
    assert list(found) == []


def test_a_damaged_run_folder_is_told_as_such(outputs: Path, tracking: dict[str, Any]) -> None:
    entry = make_run(outputs, "eps_greedy", 7)
    Path(entry.folder or "", "curves.parquet").unlink()
    with pytest.raises(TrackingError, match="this run is missing"):
        log_job(tracking, entry, TODAY)


def test_a_deleted_experiment_is_told_as_such(outputs: Path, client: MlflowClient) -> None:
    client.delete_experiment(client.create_experiment("gone"))
    with pytest.raises(TrackingError, match="'gone' is deleted there"):
        open_sweep({**SETTINGS, "experiment": "gone"}, outputs, Sweep(ABOUT), many=True)


def test_tracking_none_touches_nothing(tmp_path: Path) -> None:
    assert open_sweep({"name": "none"}, tmp_path / "outputs", Sweep(ABOUT), many=True) is None
    assert list(tmp_path.iterdir()) == []


def test_another_database_is_found_from_any_folder(
    outputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other.db").write_bytes((outputs / "mlflow.db").read_bytes())
    monkeypatch.chdir(tmp_path)
    tracking = open_sweep(
        {**SETTINGS, "uri": "sqlite:///other.db"}, tmp_path / "outputs", Sweep(ABOUT), many=False
    )
    assert tracking is not None
    assert tracking["uri"] == f"sqlite:///{tmp_path}/other.db"

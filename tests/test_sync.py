"""``python -m pipeline.sync``: what MLflow missed is logged later, once."""

import json
import socket
from pathlib import Path
from typing import Any

import pytest

from pipeline import sync
from pipeline.results.journal import Journal, Run
from pipeline.tracking.sweep import Sweep
from pipeline.tracking.tracker import log_job, open_sweep
from tests.tracking.made import make_failure, make_run, make_sweep

WANTED = {"name": "mlflow", "uri": None, "experiment": "onesided"}


@pytest.fixture(scope="module")
def new_database(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A database without runs: making one takes seconds."""
    outputs = tmp_path_factory.mktemp("outputs")
    open_sweep({**WANTED, "experiment": "other"}, outputs, Sweep({}), many=False)
    return (outputs / "mlflow.db").read_bytes()


@pytest.fixture
def outputs(tmp_path: Path, new_database: bytes) -> Path:
    folder = tmp_path / "my outputs"
    folder.mkdir()
    (folder / "mlflow.db").write_bytes(new_database)
    return folder


def missed(outputs: Path, name: str = "20260101-000000", **about: Any) -> Journal:
    """A sweep of three jobs, one failed and one running, that MLflow was not told of."""
    why = "the server did not answer"
    entries = [
        make_run(outputs, "ours", 0).but(untracked=why),
        make_failure(outputs, "noise", 1).but(untracked=why),
        Run(2, "running"),
    ]
    told = {"tracking_wanted": WANTED, "tracking": None, **about}
    return make_sweep(outputs, entries, name, **told)


def runs_in(outputs: Path) -> list[Any]:
    from mlflow.tracking import MlflowClient

    client = MlflowClient(f"sqlite:///{outputs}/mlflow.db")
    experiment = client.get_experiment_by_name("onesided")
    return list(client.search_runs([experiment.experiment_id])) if experiment else []


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = sync.main(arguments)
    said = capsys.readouterr()
    return code, said.out, said.err


def test_what_was_missed_is_logged_once(outputs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    journal = missed(outputs)
    code, said, _ = run(capsys, f"outputs={outputs}")
    assert code == 0
    assert said == "sweep 20260101-000000: 2 jobs logged\n2 jobs logged\n"

    found = {item.info.run_id: item for item in runs_in(outputs)}
    parent = journal.about["tracking"]["parent"]
    jobs = [journal.read(number) for number in range(3)]
    assert [job.tracked for job in jobs[2:]] == [None]
    assert set(found) == {parent, jobs[0].tracked, jobs[1].tracked}
    assert jobs[0].untracked is None
    assert found[jobs[0].tracked].info.status == "FINISHED"
    assert found[jobs[1].tracked].info.status == "FAILED"
    assert found[jobs[0].tracked].data.tags["mlflow.parentRunId"] == parent
    assert found[parent].info.status == "FAILED"
    assert found[parent].data.tags["failed"] == "2"

    code, said, _ = run(capsys, f"outputs={outputs}")
    assert (code, said) == (0, "nothing to log\n")
    assert len(runs_in(outputs)) == 3


def test_the_parent_of_the_sweep_is_kept(outputs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tracking = open_sweep(WANTED, outputs, Sweep({"sweep": "s"}), many=True)
    assert tracking is not None
    entries = [make_run(outputs, "ours", 0), make_run(outputs, "margin", 1)]
    entries[0] = entries[0].but(tracked=log_job(tracking, entries[0], Sweep({"sweep": "s"})))
    journal = make_sweep(outputs, entries, "s", tracking_wanted=WANTED, tracking=tracking)
    assert run(capsys, f"outputs={outputs}")[1] == "sweep s: 1 job logged\n1 job logged\n"
    assert journal.about["tracking"] == {**tracking, "ended": True}
    children = [item for item in runs_in(outputs) if "mlflow.parentRunId" in item.data.tags]
    assert {item.data.tags["mlflow.parentRunId"] for item in children} == {tracking["parent"]}
    assert sorted(item.data.tags["method"] for item in children) == ["margin", "ours"]


def test_sweeps_that_wanted_no_tracking_are_left_alone(
    outputs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missed(outputs, tracking_wanted={"name": "none"})
    missed(outputs, "20260102-000000", tracking_wanted=None)
    assert run(capsys, f"outputs={outputs}") == (0, "nothing to log\n", "")


def test_they_are_logged_where_an_address_says(
    outputs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missed(outputs, tracking_wanted={"name": "none"})
    command = (f"outputs={outputs}", f"tracking.uri=sqlite:///{outputs}/mlflow.db")
    code, out, _ = run(capsys, *command)
    assert code == 0
    assert out.endswith("2 jobs logged\n")
    assert len(runs_in(outputs)) == 3  # with their sweep
    assert run(capsys, *command) == (0, "nothing to log\n", "")


def test_help_says_what_it_does(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        sync.main(["--help"])
    assert stop.value.code == 0
    assert "python -m pipeline.sync" in capsys.readouterr().out


def test_a_server_that_is_down_is_told_in_one_line(
    outputs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        uri = f"http://127.0.0.1:{probe.getsockname()[1]}"
    journal = missed(outputs, tracking_wanted={**WANTED, "uri": uri})
    code, out, error = run(capsys, f"outputs={outputs}")
    assert (code, out) == (1, "")
    assert error.startswith(f"MLflow at {uri}: nothing listens there")
    assert error.count("\n") == 1
    assert journal.about["tracking"] is None

    other = f"tracking.uri=sqlite:///{outputs}/mlflow.db"
    assert run(capsys, f"outputs={outputs}", other)[0] == 0
    assert len(runs_in(outputs)) == 3


def test_moved_outputs_are_found(outputs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    missed(outputs)
    moved = outputs.rename(outputs.with_name("moved"))
    assert run(capsys, f"outputs={moved}")[0] == 0
    folders = [item.data.tags.get("run_folder") for item in runs_in(moved)]
    assert all(folder.startswith(str(moved)) for folder in folders if folder)


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        ("output=x", "unknown option 'output'; did you mean 'outputs'?"),
        ("tracking.url=x", "unknown option 'tracking.url'; did you mean 'tracking.uri'?"),
        ("outputs", "outputs needs a value: outputs=…"),
        ("outputs=/nowhere", "outputs=/nowhere: no such folder"),
    ],
)
def test_a_wrong_command_is_told(
    argument: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, argument) == (2, "", f"{said}\n")


def test_a_sweep_without_a_journal_is_no_obstacle(
    outputs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = outputs / "sweeps" / "20250101-000000"
    broken.mkdir(parents=True)
    (broken / "sweep.json").write_text(json.dumps({})[:1])
    assert run(capsys, f"outputs={outputs}") == (0, "nothing to log\n", "")


def test_results_that_were_removed_are_no_obstacle(
    outputs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entries = [make_run(outputs, "ours", 0), make_run(outputs, "margin", 1)]
    make_sweep(outputs, entries, "s", tracking_wanted=WANTED, tracking=None)
    Path(entries[0].folder or "", "status.json").unlink()
    assert run(capsys, f"outputs={outputs}")[:2] == (0, "sweep s: 1 job logged\n1 job logged\n")

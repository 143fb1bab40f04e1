"""Processes that open tracking: cheap to import, several at once, nothing on the terminal."""

import subprocess
import sys
from pathlib import Path

import pytest

OPEN = """
import sys
from pathlib import Path
from pipeline.tracking.sweep import Sweep
from pipeline.tracking.tracker import log_job, open_sweep
from tests.tracking.made import make_run

outputs, method = Path(sys.argv[1]), sys.argv[2]
settings = {"name": "mlflow", "uri": None, "experiment": "onesided"}
tracking = open_sweep(settings, outputs, Sweep({"sweep": method}), many=True)
log_job(tracking, make_run(outputs, method), Sweep({"sweep": method}))
"""


def test_importing_it_imports_nothing_heavy() -> None:
    code = """
import sys
import pipeline.tracking.tracker, pipeline.tracking.ui, pipeline.sync
print({"mlflow", "matplotlib", "pandas", "sqlalchemy"} & set(sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


@pytest.mark.slow
def test_two_sweeps_at_the_same_moment_on_new_outputs(tmp_path: Path) -> None:
    outputs = tmp_path / "new outputs"
    started = [
        subprocess.Popen(
            [sys.executable, "-c", OPEN, str(outputs), method],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for method in ("ours", "margin")
    ]
    said = [process.communicate()[0] for process in started]
    assert [process.returncode for process in started] == [0, 0], said
    assert said == ["", ""]

    from mlflow.tracking import MlflowClient

    client = MlflowClient(f"sqlite:///{outputs}/mlflow.db")
    found = client.get_experiment_by_name("onesided")
    assert found is not None
    names = sorted(run.info.run_name for run in client.search_runs([found.experiment_id]))
    jobs = ["margin 50% diabetes linear", "ours 50% diabetes linear"]
    assert names == sorted([*jobs, "sweep margin", "sweep ours"])

"""MLflow's pages: what is said before they open, and what a real browser shows."""

import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from screenshots import PATIENCE, compare_selected, find, open_runs, select_runs, serving
from selenium.webdriver import Chrome

from pipeline.tracking.tracker import close_sweep, log_job, open_sweep
from pipeline.tracking.ui import check, parse
from tests.tracking.made import make_run

pytest_plugins = ("tests.browser",)

CURVES = """
const plots = Array.from(document.querySelectorAll(".js-plotly-plot"));
const read = (curve) => [curve.name, Array.from(curve.x), Array.from(curve.y)];
return plots.flatMap((plot) => plot.data.map(read));
"""


def test_options_have_defaults() -> None:
    assert parse([]) == (Path("outputs"), 5000)
    assert parse(["port=80", "outputs=a b"]) == (Path("a b"), 80)


@pytest.mark.parametrize("argument", ["prot=1", "port", "port=", "port=x", "port=0", "port=70000"])
def test_a_wrong_option_is_named(argument: str) -> None:
    with pytest.raises(ValueError, match=argument.removesuffix("=1")):
        parse([argument])


def test_without_a_database_it_says_what_to_do(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pipeline.tracking.ui", f"outputs={tmp_path}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith(f"no MLflow database in {tmp_path} yet: run a sweep first")


def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    (tmp_path / "mlflow.db").touch()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ValueError, match=f"port {port} is not free.*PORT={port + 1}"):
            check(tmp_path, port)
    check(tmp_path, port)


@pytest.fixture
def logged(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """Outputs with a sweep of three jobs, and the ids of their runs."""
    outputs = tmp_path / "my outputs"
    settings = {"name": "mlflow", "uri": None, "experiment": "onesided"}
    tracking: Any = open_sweep(settings, outputs, {"sweep": "today"}, many=True)
    jobs = {m: make_run(outputs, m, k) for k, m in enumerate(("ours", "margin", "greedy"))}
    runs = {method: log_job(tracking, entry, "today") for method, entry in jobs.items()}
    close_sweep(tracking, 0, None)
    return outputs, runs


@pytest.mark.slow
def test_nobody_can_upload(logged: tuple[Path, dict[str, str]]) -> None:
    outputs, _ = logged
    with serving(outputs) as page:
        address = page.removesuffix("/#")
        url = f"{address}/api/2.0/mlflow-artifacts/artifacts/1/evil.txt"
        request = urllib.request.Request(url, data=b"evil", method="PUT")
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request, timeout=PATIENCE)
    assert refused.value.code in (403, 404, 405, 503)
    assert not list(outputs.rglob("evil.txt"))


@pytest.mark.slow
def test_a_browser_compares_two_runs(
    browser: Chrome, logged: tuple[Path, dict[str, str]], tmp_path: Path
) -> None:
    outputs, runs = logged
    with serving(outputs) as page:
        open_runs(browser, page)
        select_runs(browser, [runs["ours"], runs["margin"]])
        browser.save_screenshot(str(tmp_path / "runs.png"))
        compare_selected(browser, "average_loss")
        find(browser, ".js-plotly-plot .xtick")  # for the picture: they come after the lines
        browser.save_screenshot(str(tmp_path / "compare.png"))
        drawn = {name: (x, y) for name, x, y in browser.execute_script(CURVES)}
    assert set(drawn) == {"ours 0.5 diabetes linear", "margin 0.5 diabetes linear"}
    for name, (rounds, values) in drawn.items():
        folder = outputs / "runs" / "inferred" / "diabetes" / "linear" / "0.5" / name.split()[0]
        frame = pd.read_parquet(folder / "abcdef012345" / "curves.parquet")
        truth = (frame["loss"] / frame["round"]).groupby(frame["round"]).mean()
        assert len(rounds) == 200
        np.testing.assert_allclose(values, truth.loc[rounds])

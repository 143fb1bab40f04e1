"""MLflow's pages: what is said before they open, and what a real browser shows."""

import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pandas as pd
import pytest
from screenshots import (
    PATIENCE,
    RUN,
    compare_selected,
    find,
    open_charts,
    open_runs,
    select_runs,
    serving,
)  # fmt: skip
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from pipeline.tracking.record import CURVE_POINTS
from pipeline.tracking.store import store_uri
from pipeline.tracking.sweep import Sweep, content_of
from pipeline.tracking.tracker import close_sweep, log_job, open_sweep
from pipeline.tracking.ui import check, pages, parse
from tests.tracking.made import folder_of, make_run, make_sweep

pytest_plugins = ("tests.browser",)

CURVES = """
const plots = Array.from(document.querySelectorAll(".js-plotly-plot"));
const list = (values) => Array.from(values || []);
const read = (curve) => [curve.name || "", list(curve.x), list(curve.y)];
return plots.flatMap((plot) => (plot.data || []).map(read));
"""
COLOURS = """
const lines = document.querySelectorAll(".js-plotly-plot .scatterlayer .trace path.js-line");
return Array.from(lines, (line) => line.style.stroke);
"""
TITLES = """
const charts = document.querySelectorAll("[data-testid*=chart], h4, [role=heading]");
return Array.from(charts, (chart) => chart.innerText.split("\\n")[0].trim());
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


CELLS = [(method, cutoff) for method in ("ours", "margin") for cutoff in ("0.5", "0.7")]
NAMES = {"ours 50%", "ours 70%", "margin 50%", "margin 70%"}


@pytest.fixture
def logged(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """Outputs with a sweep of four jobs, and the ids of their runs by name."""
    outputs = tmp_path / "my outputs"
    settings = {"name": "mlflow", "uri": None, "experiment": "onesided"}
    jobs = [make_run(outputs, m, k, cutoff=c, groups=["a"]) for k, (m, c) in enumerate(CELLS)]
    about = {"sweep": "today", "many": True, "content": content_of(job.labels for job in jobs)}
    sweep = Sweep(about)
    tracking: Any = open_sweep(settings, outputs, sweep, many=True)
    make_sweep(outputs, jobs, "today", tracking=tracking)
    runs = {sweep.run_name(job): log_job(tracking, job, sweep) for job in jobs}
    close_sweep(tracking, 0, None, metrics=sweep.metrics(jobs, 0))
    return outputs, runs


def test_pages_are_those_of_the_newest_sweep(tmp_path: Path) -> None:
    assert list(pages(tmp_path, 80)) == ["all experiments"]
    ours = {"uri": store_uri(None, tmp_path), "experiment_id": "7"}
    make_sweep(tmp_path, [], "1", tracking=ours)
    make_sweep(tmp_path, [], "2", tracking={**ours, "experiment_id": "8"})
    make_sweep(tmp_path, [], "3", tracking={**ours, "uri": "http://127.0.0.1:1"})
    make_sweep(tmp_path, [], "4", tracking=None)
    found = pages(tmp_path, 80)
    for page in found.values():
        assert page.startswith("http://127.0.0.1:80/#/experiments/8/runs?")
        assert "compareRunsMode=CHART" in page
    assert quote("tags.sweep = '2'") in found["the newest"]


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
        select_runs(browser, [runs["ours 50%"], runs["ours 70%"]])
        browser.save_screenshot(str(tmp_path / "runs.png"))
        compare_selected(browser, "average_loss")
        find(browser, ".js-plotly-plot .xtick")  # for the picture: they come after the lines
        browser.save_screenshot(str(tmp_path / "compare.png"))
        drawn = {name: (x, y) for name, x, y in browser.execute_script(CURVES)}
    assert set(drawn) == {"ours 50%", "ours 70%"}
    for name, (cases, values) in drawn.items():
        assert len(cases) == CURVE_POINTS
        np.testing.assert_allclose(values, true_curve(outputs, name).loc[cases] / cases)


@pytest.mark.slow
def test_a_browser_shows_charts_on_arrival(
    browser: Chrome, logged: tuple[Path, dict[str, str]], tmp_path: Path
) -> None:
    outputs, runs = logged
    browser.set_window_size(1600, 3000)  # charts are drawn when they are seen
    with serving(outputs) as page:
        open_charts(browser, outputs, page, "all sweeps")
        wait_for_charts(browser, {"mean_loss_ours", "settings_won_margin", "sweep_seconds"})
        find(browser, ".js-plotly-plot .barlayer .point")
        browser.save_screenshot(str(tmp_path / "sweeps.png"))
        assert rows(browser) == ["diabetes linear · ours, margin · 50%, 70%"]

        find(browser, RUN).click()
        wait_for_words(browser, {"mean_loss_ours", "settings_won_margin", "50%, 70%", *NAMES})
        browser.save_screenshot(str(tmp_path / "sweep.png"))

        open_charts(browser, outputs, page, "the newest")
        wait_for_charts(browser, {"average_loss", "cumulative_loss", "loss_by_log2_alpha", "alpha"})
        assert set(rows(browser)) == NAMES
        wait_for_lines(browser, n=3 * len(NAMES))
        browser.save_screenshot(str(tmp_path / "newest.png"))
        check_lines(outputs, browser.execute_script(CURVES))
        assert len(set(browser.execute_script(COLOURS))) == len(NAMES)

        run = runs["ours 70%"]
        browser.get("about:blank")
        browser.get(f"{page}/experiments/1/runs/{run}/model-metrics")
        wait_for_charts(browser, {"average_loss", "cumulative_loss", "alpha", "group_loss_a"})
        wait_for_lines(browser, n=3)
        browser.save_screenshot(str(tmp_path / "run.png"))


def wait_for_words(browser: Chrome, words: set[str]) -> None:
    def shown(page: Chrome) -> bool:
        text = page.find_element(By.TAG_NAME, "body").text
        return all(word in text for word in words)

    WebDriverWait(browser, PATIENCE).until(shown)


def rows(browser: Chrome) -> list[str]:
    return [row.text for row in browser.find_elements(By.CSS_SELECTOR, RUN)]


def wait_for_charts(browser: Chrome, titles: set[str]) -> None:
    WebDriverWait(browser, PATIENCE).until(lambda b: titles <= set(b.execute_script(TITLES)))


def wait_for_lines(browser: Chrome, n: int) -> None:
    def are_drawn(driver: Chrome) -> bool:
        return sum(len(x) > 1 for _, x, _ in driver.execute_script(CURVES)) >= n

    WebDriverWait(browser, PATIENCE).until(are_drawn)


def check_lines(outputs: Path, curves: list[tuple[str, list[Any], list[float]]]) -> None:
    """Every run has its curve of R_t, by cases."""
    lines = {
        name.partition(" (")[0]: (x, y)
        for name, x, y in curves
        if len(x) == CURVE_POINTS and y[-1] > 1
    }
    assert set(lines) == NAMES
    for name, (cases, values) in lines.items():
        np.testing.assert_allclose(values, true_curve(outputs, name).loc[cases])


def true_curve(outputs: Path, name: str) -> Any:
    method, cutoff = name.split()
    folder = folder_of(outputs, method, {"50%": "0.5", "70%": "0.7"}[cutoff]).path
    frame = pd.read_parquet(folder / "curves.parquet")
    return frame["loss"].groupby(frame["round"]).mean()

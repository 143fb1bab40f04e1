"""Pictures of the pages, made by the software itself: ``python scripts/screenshots.py``.

Runs a small sweep, opens MLflow's charts of it in Chromium and writes docs/images/mlflow.png. Needs
Debian's chromium and chromium-driver, which root installs on the way.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from pipeline.tracking.ui import pages

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "images" / "mlflow.png"
SWEEP = ("-m", "method=ours,margin", "cutoff=0.5,0.7")
PACKAGES = ("chromium", "chromium-driver")
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",  # containers have little of it
    "--window-size=1400,1000",
)
RUN = "[role=row][row-id] a[href*='/runs/']"
PATIENCE = 600  # seconds; a bound: ten busy programs leave a server little of two cores


def main() -> None:
    """Make docs/images/mlflow.png."""
    why_not = install_browser()
    if why_not:
        sys.exit(why_not)
    with tempfile.TemporaryDirectory() as folder:
        outputs = Path(folder) / "outputs"
        command = (sys.executable, "-m", "pipeline.run", *SWEEP, f"outputs={outputs}")
        subprocess.run(command, cwd=ROOT, check=True)
        driver = start_browser(Path(folder) / "profile")
        with serving(outputs) as page:
            driver.set_window_size(1400, 1200)  # two rows of charts
            open_charts(driver, outputs, page, "the newest")
            time.sleep(5)  # the curves are drawn one after the other
            driver.save_screenshot(str(PICTURE))
        driver.quit()
    print(f"{PICTURE.relative_to(ROOT)}: {PICTURE.stat().st_size // 1000} kB")


def install_browser() -> str | None:
    """Install Chromium where it is missing; return why that is not possible."""
    if shutil.which("chromium") and shutil.which("chromedriver"):
        return None
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return f"needs {' and '.join(PACKAGES)}; apt-get installs them, as root"
    for command in (["update"], ["install", "-y", "--no-install-recommends", *PACKAGES]):
        done = subprocess.run(
            ["apt-get", "-q", *command], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            return f"apt-get {command[0]} failed: {done.stderr.strip()}"
    return None


def start_browser(profile: Path) -> Chrome:
    """Start Chromium with a new, empty profile; it logs the console and all requests."""
    options = ChromeOptions()
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.binary_location = shutil.which("chromium") or ""
    return Chrome(options, Service(shutil.which("chromedriver")))


@contextmanager
def serving(outputs: Path) -> Iterator[str]:
    """Yield the address of MLflow's pages, which are there until the end of the block."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = (sys.executable, "-m", "pipeline.tracking.ui", f"outputs={outputs}", f"port={port}")
    server = subprocess.Popen(command, cwd=ROOT, start_new_session=True)
    try:
        _wait_for(f"http://127.0.0.1:{port}/health", server)
        yield f"http://127.0.0.1:{port}/#"
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait()


def _wait_for(url: str, server: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and server.poll() is None:
        try:
            urllib.request.urlopen(url, timeout=5).close()
        except (urllib.error.URLError, OSError):
            time.sleep(0.5)
        else:
            return
    raise TimeoutError(f"{url} does not answer")


def open_charts(driver: Chrome, outputs: Path, page: str, which: str) -> None:
    """Open a page that ``make ui`` names."""
    port = int(page.removesuffix("/#").rpartition(":")[2])
    driver.get("about:blank")  # else only what follows the # changes, and MLflow keeps its state
    driver.get(pages(outputs, port)[which])
    find(driver, RUN)
    _close_assistant(driver)


def open_runs(driver: Chrome, page: str, experiment: str = "1") -> None:
    """Open the table of an experiment's runs, children unfolded."""
    driver.get(f"{page}/experiments/{experiment}/runs?workflowType=machine_learning")
    find(driver, RUN)
    _close_assistant(driver)
    parents = driver.find_elements(By.CSS_SELECTOR, "button[data-component-id*=runnamecell]")
    if len(driver.find_elements(By.CSS_SELECTOR, RUN)) == len(parents):  # MLflow remembers
        parents[0].click()


def _close_assistant(driver: Chrome) -> None:
    for button in driver.find_elements(By.CSS_SELECTOR, "[data-component-id$='chat_panel.close']"):
        button.click()


def select_runs(driver: Chrome, runs: Sequence[str]) -> None:
    """Tick the boxes of some runs in the table."""
    for run in runs:
        box = find(driver, f"[role=row][row-id='{run}'] .ag-checkbox-input")
        driver.execute_script("arguments[0].click()", box)


def compare_selected(driver: Chrome, metric: str) -> None:
    """Press Compare, then open the chart of a metric."""
    find(driver, "[data-testid=runs-compare-button]").click()
    find(driver, f"a[href*='/metric?'][href*='{metric}'], a[title*='{metric}']").click()
    find(driver, ".js-plotly-plot .scatterlayer .trace")


def find(driver: Chrome, selector: str) -> WebElement:
    """Return the first element of a page that has it, at last."""
    WebDriverWait(driver, PATIENCE).until(lambda d: d.find_elements(By.CSS_SELECTOR, selector))
    return driver.find_element(By.CSS_SELECTOR, selector)


if __name__ == "__main__":
    main()

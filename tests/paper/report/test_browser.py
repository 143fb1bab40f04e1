"""The report in a real Chromium: every control, every figure, and silence."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from screenshots import PATIENCE, serving
from selenium.webdriver import ActionChains, Chrome, Keys
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select, WebDriverWait

from pipeline.paper.published import METHODS
from pipeline.paper.report.sections import MLFLOW, mlflow_link
from pipeline.paper.report.write import PAGES
from pipeline.tracking.tracker import close_sweep, log_job, open_sweep
from pipeline.view.style import LOOKS
from tests.paper.report.made_up_report import MISSING, REASON, RUN, Made, make_report
from tests.tracking.made import TODAY, make_run

pytest_plugins = ("tests.browser",)
pytestmark = pytest.mark.slow

TABLES = (
    "table1", "table2", "appendix_linear_1", "appendix_linear_2", "appendix_logistic_1",
    "appendix_logistic_2",
)  # fmt: skip
SECTIONS = ("overview", "tables", "curves", "alpha", "hindsight", "theory", "runs")
READ_TABLE = """
const rows = document.querySelectorAll(`#table-${arguments[0]} tbody tr`);
return Array.from(rows, (row) => Array.from(row.cells, (cell) => cell.textContent));
"""
BOLD = """
const cells = document.querySelectorAll(`#table-${arguments[0]} tbody td`);
return Array.from(cells).filter((cell) => cell.querySelector("b")).length;
"""

COMPLETE = """
return document.readyState === "complete" && location.href.split("#")[0] === arguments[0];
"""
UNNAMED = """
const controls = document.querySelectorAll("button, select, input, [tabindex='0'], svg[role]");
const texts = (c) => [c.getAttribute("aria-label"), c.textContent, c.labels?.[0]?.textContent];
const unnamed = Array.from(controls).filter((c) => !texts(c).some((text) => text?.trim()));
return unnamed.map((c) => c.outerHTML.slice(0, 80));
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return make_report(tmp_path_factory.mktemp("report"))


@pytest.fixture
def page(browser: Chrome, made: Made) -> Iterator[Chrome]:
    """The page, freshly opened; at the end nothing has been said and nothing asked for outside."""
    for log in ("browser", "performance"):
        browser.get_log(log)
    open_page(browser, made)
    yield browser
    assert browser.get_log("browser") == []
    asked = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    sent = [one["params"] for one in asked if one["method"] == "Network.requestWillBeSent"]
    asked_for = {one["request"]["url"].partition("#")[0] for one in sent}
    assert {url for url in asked_for if not url.startswith("data:")} <= {made.page.as_uri()}


def open_page(browser: Chrome, made: Made) -> None:
    """Open the page and wait until it is complete: its script runs while it loads.

    ``get`` alone has returned before the page was there, on a busy machine.
    """
    browser.get("about:blank")  # else the page of the test before is complete at once
    browser.get(made.page.as_uri())
    WebDriverWait(browser, PATIENCE).until(lambda b: b.execute_script(COMPLETE, made.page.as_uri()))


def all_of(page: Chrome, selector: str) -> list[WebElement]:
    return page.find_elements(By.CSS_SELECTOR, selector)


def one(page: Chrome, selector: str) -> WebElement:
    return page.find_element(By.CSS_SELECTOR, selector)


def press(page: Chrome, *keys: str) -> None:
    ActionChains(page).send_keys(*keys).perform()


def click(page: Chrome, element: WebElement) -> None:
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
    element.click()


def choose(page: Chrome, name: str, value: str) -> None:
    """Click the label of a radio button."""
    click(page, one(page, f"input[name={name}][value={value}] + span"))


def choose_setting(page: Chrome, section: str, *values: str) -> None:
    for box, value in zip(all_of(page, f"#{section} select"), values, strict=True):
        Select(box).select_by_value(value)


def shown(page: Chrome, name: str) -> list[list[str]]:
    return list(page.execute_script(READ_TABLE, f"inferred_{name}"))


def csv(made: Made, *parts: str) -> pd.DataFrame:
    path = made.folder.joinpath(*parts)
    return pd.read_csv(path, dtype={"cutoff": "str"}, na_values=["missing", "failed"])


def test_the_tables_show_the_figures_of_the_csv(page: Chrome, made: Made) -> None:
    for name in TABLES:
        truth = csv(made, "tables", f"{name}.csv")
        rows = shown(page, name)
        assert len(rows) == len(truth)
        for row, expected in zip(rows, truth.to_dict("records"), strict=True):
            assert row[1] == f"{float(expected['cutoff']) * 100:g}%"
            for text, method in zip(row[2:], METHODS, strict=True):
                if np.isnan(expected[method]):
                    assert text in {"missing", "failed"}
                    continue
                loss, error = (float(part) for part in text.split(" ± "))
                # The CSV has four digits, the page two: half a digit of each.
                assert loss == pytest.approx(expected[method], abs=0.00506)
                assert error == pytest.approx(expected[f"{method}_standard_error"], abs=0.00506)
        bold = truth["bold"].dropna().str.split().str.len().sum()
        assert page.execute_script(BOLD, f"inferred_{name}") == bold


def test_the_switch_shows_the_paper_and_z(page: Chrome, made: Made) -> None:
    truth = csv(made, "compare", "comparison.csv").pivot(
        index=["link", "dataset", "cutoff"], columns="method", values=["paper", "z"]
    )
    for view, write in (("paper", "{:.2f}".format), ("z", "{:+.1f}".format)):
        choose(page, "view", view)
        for name in TABLES:
            labels = csv(made, "tables", f"{name}.csv")[["link", "dataset", "cutoff"]]
            for row, label in zip(shown(page, name), labels.itertuples(index=False), strict=True):
                for text, method in zip(row[2:], METHODS, strict=True):
                    value = truth.loc[tuple(label), (view, method)]
                    if np.isnan(value):
                        assert text in {"missing", "failed"}
                    else:
                        printed = text.removesuffix(" †").replace("−", "-")
                        assert float(printed) == pytest.approx(float(write(value)), abs=0.1001)
                        assert view == "z" or printed == write(value)
    choose(page, "view", "ours")
    assert " ± " in shown(page, "table1")[0][2]


def test_each_table_can_be_chosen_and_arrow_keys_move_on(page: Chrome) -> None:
    ids = [f"inferred_{name}" for name in TABLES] + ["stated_table1", "stated_table2"]
    for wanted in ids:
        choose(page, "table", wanted)
        visible = [
            box.get_attribute("id") for box in all_of(page, ".table-box") if box.is_displayed()
        ]
        assert visible == [f"table-{wanted}"]
    press(page, Keys.ARROW_LEFT)
    assert one(page, "#table-stated_table1").is_displayed()


@pytest.mark.parametrize("view", ["ours", "paper", "z"])
def test_every_head_sorts_up_down_and_back(page: Chrome, view: str) -> None:
    choose(page, "view", view)
    paper = shown(page, "table1")
    heads = all_of(page, "#table-inferred_table1 thead th")
    assert len(heads) == 9
    for column, head in enumerate(heads):
        button = head.find_element(By.TAG_NAME, "button")
        for direction in ("ascending", "descending"):
            click(page, button)
            assert head.get_attribute("aria-sort") == direction
            assert [th.get_attribute("aria-sort") for th in heads].count("none") == 8
            check_order(shown(page, "table1"), paper, column, direction)
        click(page, button)
        assert shown(page, "table1") == paper
    button.send_keys(Keys.ENTER)
    assert heads[-1].get_attribute("aria-sort") == "ascending"
    button.send_keys(Keys.SPACE)
    assert heads[-1].get_attribute("aria-sort") == "descending"


def check_order(rows: list[list[str]], paper: list[list[str]], column: int, way: str) -> None:
    """Check that a column goes one way, gaps last, and that all rows are still there."""
    assert sorted(rows) == sorted(paper)
    texts = [row[column] for row in rows]
    known = [text for text in texts if text not in {"missing", "failed"}]
    assert texts[: len(known)] == known
    keys: list[Any] = [text.lower() if column == 0 else number(text) for text in known]
    assert keys == sorted(keys, reverse=way == "descending")


def number(text: str) -> float:
    return float(text.partition(" ")[0].replace("−", "-").rstrip("%"))


def test_a_gap_shows_its_command(page: Chrome) -> None:
    (missing, failed) = sorted(
        all_of(page, "#table-inferred_table1 button.gap"), key=lambda b: b.text, reverse=True
    )
    click(page, missing)
    told = one(page, "#table-inferred_table1 [aria-live]")
    labels = " ".join(f"{k}={MISSING[k]}" for k in ("dataset", "link", "cutoff", "method"))
    assert labels in told.text
    assert told.text.startswith("linear, Churn, 50%, noise is missing.")
    failed.send_keys(Keys.ENTER)
    assert REASON in told.text  # as text: the page's own check would have seen it load
    listed = one(page, "#table-inferred_table1 .gaps:last-child").text
    assert labels in listed


def test_the_picture_has_a_box_for_every_figure(page: Chrome, made: Made) -> None:
    truth = csv(made, "compare", "comparison.csv")
    counts = truth["verdict"].fillna("missing").value_counts()
    classes = {"agrees": "agrees", "differs": "differs", "strongly differs": "strongly"}
    for verdict, name in {**classes, "missing": "missing"}.items():
        assert len(all_of(page, f"#verdict rect.{name}")) == counts[verdict]
        assert f"{verdict}: {counts[verdict]:,}" in one(page, "#verdict-key").text
    row = truth[truth["z"].notna()].iloc[917]
    cell = "/".join(row[["link", "dataset", "cutoff", "method"]])
    box = one(page, f"[data-cell='{cell}']")
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", box)
    ActionChains(page).move_to_element(box).perform()
    error = row["standard_deviation"] / np.sqrt(row["n_splits"])
    z = f"{row['z']:+.1f}".replace("-", "−")
    figures = (
        f"ours {row['loss']:.2f} ± {error:.2f}, paper {row['paper']:.2f}, z {z}: {row['verdict']}"
    )
    assert figures in one(page, "#verdict-readout").text


def test_arrow_keys_walk_through_the_picture(page: Chrome) -> None:
    assert len(all_of(page, "#verdict rect[tabindex='0']")) == 2  # one a link
    page.execute_script("document.querySelector('#verdict rect[tabindex=\"0\"]').focus()")
    readout = one(page, "#verdict-readout")
    assert readout.text.startswith("linear, Adult, 50%, greedy: ours")
    press(page, Keys.ARROW_DOWN, Keys.ARROW_RIGHT)
    assert readout.text.startswith("linear, Bank, 55%, greedy")
    press(page, Keys.ARROW_UP, Keys.ARROW_UP, Keys.ARROW_LEFT, Keys.ARROW_LEFT)
    assert readout.text.startswith("linear, Adult, 50%, greedy")
    assert len(all_of(page, "#verdict rect[tabindex='0']")) == 2


def values(page: Chrome, section: str) -> dict[str, str]:
    """What stands beside each method, by method."""
    return {
        label.find_element(By.TAG_NAME, "input").get_attribute("value") or "": label.find_element(
            By.TAG_NAME, "output"
        ).text
        for label in all_of(page, f"#{section} .methods label")
    }


def lines(page: Chrome, section: str) -> dict[str, WebElement]:
    found = all_of(page, f"#{section} polyline")
    return {line.get_attribute("data-method") or "": line for line in found}


@pytest.mark.parametrize("section", ["curves", "alpha"])
def test_lines_look_as_in_the_figures_and_can_be_switched(page: Chrome, section: str) -> None:
    assert set(lines(page, section)) == set(METHODS)
    for method, line in lines(page, section).items():
        look = LOOKS[method]
        black = look.colour == "#000000"
        assert line.get_attribute("stroke") == ("var(--black)" if black else look.colour)
        dash = line.get_attribute("stroke-dasharray")
        found = [float(part) / look.width for part in dash.split()] if dash else []
        np.testing.assert_allclose(found, look.dash, atol=0.01)
    for box in all_of(page, f"#{section} .methods input"):
        method = box.get_attribute("value") or ""
        click(page, box)
        assert set(lines(page, section)) == set(METHODS) - {method}
        assert values(page, section)[method] == ""
        box.send_keys(Keys.SPACE)
        assert set(lines(page, section)) == set(METHODS)


def test_curves_read_as_the_collection(page: Chrome, made: Made) -> None:
    choose_setting(page, "curves", "bank", "logistic", "0.85")
    curves = made.collection.curves
    here = curves[(curves["dataset"] == "bank") & (curves["link"] == "logistic")]
    here = here[here["cutoff"] == "0.85"].set_index("method")
    chart = one(page, "#curves svg.plot")
    for keys, place in (
        ((), -1),
        ((Keys.HOME,), 0),
        ((Keys.ARROW_RIGHT,) * 3, 3),
        ((Keys.PAGE_UP,), 13),
    ):
        if keys:
            chart.send_keys(*keys)
        for method, text in values(page, "curves").items():
            point = here.loc[method].iloc[place]
            mean, error = map(float, text.split(" ± "))
            assert mean == pytest.approx(point["mean"], rel=6e-4)
            assert error == pytest.approx(point["standard_error"], rel=0.06)
    rounds = here.loc["ours"]["round"].tolist()
    assert one(page, "#curves .where").text == f"t = {rounds[13]:,}"
    assert f"t = {rounds[13]:,}: greedy" in (chart.get_attribute("aria-valuetext") or "")
    ActionChains(page).move_to_element_with_offset(chart, 40, 0).perform()
    assert one(page, "#curves .where").text != f"t = {rounds[13]:,}"


def test_alphas_read_as_the_collection(page: Chrome, made: Made) -> None:
    choose_setting(page, "alpha", "crime", "linear", "0.7")
    losses = made.collection.losses
    here = losses[(losses["dataset"] == "crime") & (losses["link"] == "linear")]
    means = here[here["cutoff"] == "0.7"].groupby(["method", "alpha"])["loss"].mean()
    best = means.groupby("method").min()
    table = {row[0] + row[1]: row[2:] for row in shown(page, "table1")}["Crime70%"]
    for k, (method, text) in enumerate(values(page, "alpha").items()):
        assert text.split(" ")[0] == f"{best[method]:.2f}" == table[k].split(" ")[0]
    dots = {dot.get_attribute("data-method") for dot in all_of(page, "#alpha circle.dot")}
    assert dots == set(METHODS) - {"greedy"}
    one(page, "#alpha svg.plot").send_keys(Keys.HOME)
    assert one(page, "#alpha .where").text == "alpha = 2⁻¹⁰"
    greedy = means["greedy"].item()
    for method, text in values(page, "alpha").items():
        if method != "greedy":
            least = means[method].iloc[0]
            assert text.startswith(f"{least:.2f} (×{least / greedy:.3f} ± ")


@pytest.mark.parametrize("section", ["curves", "alpha"])
def test_a_missing_line_names_its_command(page: Chrome, section: str) -> None:
    choose_setting(page, section, "churn", "linear", "0.5")
    assert set(lines(page, section)) == set(METHODS) - {"noise"}
    assert values(page, section)["noise"] == "missing"
    assert not one(page, f"#{section} input[value=noise]").is_enabled()
    assert (
        "dataset=churn link=linear cutoff=0.5 method=noise" in one(page, f"#{section} .gaps").text
    )


def test_hindsight_reads_as_its_csv(page: Chrome, made: Made) -> None:
    truth = csv(made, "hindsight", "hindsight.csv")
    for link, method in (("linear", "ours"), ("logistic", "eps_greedy")):
        choose_setting(page, "hindsight", link, method)
        here = truth[(truth["link"] == link) & (truth["method"] == method)]
        rows = all_of(page, "#hindsight g.setting")
        assert len(rows) == len(here) == 20
        for row, expected in zip(rows, here.to_dict("records"), strict=True):
            label = row.get_attribute("aria-label") or ""
            if expected["state"] != "done":
                assert "missing" in label
                continue
            for way in ("hindsight", "held_out"):
                value = f"{expected[f'advantage_{way}']:.1%}".replace("-", "−")
                assert value in label
    page.execute_script("document.querySelector('#hindsight g.setting').focus()")
    press(page, Keys.ARROW_DOWN)
    assert one(page, "#hindsight .readout").text.startswith("Adult, 70%: alpha 2^")
    overall = csv(made, "hindsight", "hindsight_overall.csv")
    chosen = overall[(overall["link"] == "logistic") & (overall["method"] == "margin")]
    value = f"{chosen['advantage_held_out'].item():.1%}".replace("-", "−")
    assert value in all_of(page, "#hindsight table")[1].text


def test_the_theory_shows_its_tables_and_pictures(page: Chrome) -> None:
    pictures = all_of(page, "#theory img")
    assert len(pictures) == len(PAGES)
    for picture in pictures:
        assert page.execute_script("return arguments[0].naturalWidth", picture) > 0
        assert picture.get_attribute("alt")
    assert "0.10 (0.05 – 0.15)" in one(page, "#theory table").text


def test_runs_link_to_their_configs(page: Chrome, made: Made) -> None:
    rows = all_of(page, "#runs-table tbody tr")
    assert len(rows) == 70
    config, mlflow = rows[0].find_elements(By.TAG_NAME, "a")
    assert config.get_attribute("href") == (made.folder / "outputs" / RUN / "config.yaml").as_uri()
    assert (mlflow.get_attribute("href") or "").startswith(MLFLOW)
    assert len(all_of(page, "#runs-table a")) == 1 + 70  # the other folders are not there
    choose_setting(page, "runs", "churn", "linear")
    assert "cutoff=0.5 method=noise" in one(page, "#runs-table").text
    assert "c0ffee" in one(page, "#environment").text


def test_the_theme_follows_the_system_and_the_button(page: Chrome, made: Made) -> None:
    def background() -> str:
        return str(page.execute_script("return getComputedStyle(document.body).backgroundColor"))

    def system(theme: str) -> None:
        features = [{"name": "prefers-color-scheme", "value": theme}]
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    system("light")
    light = background()
    system("dark")
    dark = background()
    button = one(page, "#theme")
    assert light != dark
    assert button.get_attribute("aria-pressed") == "true"
    button.send_keys(Keys.ENTER)
    assert (background(), button.get_attribute("aria-pressed")) == (light, "false")
    open_page(page, made)
    assert background() == light
    click(page, one(page, "#theme"))
    assert background() == dark
    page.execute_script("localStorage.clear()")
    system("")


def test_the_keyboard_reaches_everything_and_is_seen(page: Chrome) -> None:
    press(page, Keys.TAB)
    skip = page.switch_to.active_element
    assert skip.text == "Skip to the report"
    assert skip.rect["x"] >= 0
    press(page, Keys.ENTER)
    assert page.switch_to.active_element.get_attribute("id") == "main"
    for section in (*SECTIONS, *reversed(SECTIONS)):
        one(page, f"nav a[href='#{section}']").send_keys(Keys.ENTER)
        wait_for_mark(page, section)
        header, heading = one(page, "header"), one(page, f"#{section} h2")
        bottom = page.execute_script("return arguments[0].getBoundingClientRect().bottom", header)
        top = page.execute_script("return arguments[0].getBoundingClientRect().top", heading)
        assert bottom < top < page.execute_script("return innerHeight"), section
    reached = set()
    page.execute_script("scrollTo(0, 0); document.querySelector('nav a').focus()")
    for _ in range(80):
        press(page, Keys.TAB)
        element = page.switch_to.active_element
        reached.add(element.tag_name)
        outline = "return getComputedStyle(arguments[0]).outlineStyle"
        stroke = element.tag_name in {"rect", "g"} or element.get_attribute("type") == "radio"
        assert stroke or page.execute_script(outline, element) != "none", element.tag_name
    assert {"a", "button", "input", "select", "svg", "div", "summary", "rect", "g"} <= reached


def wait_for_mark(page: Chrome, section: str) -> None:
    """Wait until the navigation marks a section as the one being read, and no other."""
    marked = "return Array.from(document.querySelectorAll('nav a[aria-current]'), (a) => a.hash)"
    WebDriverWait(page, PATIENCE).until(
        lambda p: p.execute_script(marked) == [f"#{section}"], section
    )


def test_the_mark_follows_a_little_scrolling_to_and_fro(page: Chrome) -> None:
    """Both sections stay in view all the while: only which one fills the upper part changes."""
    edge = page.execute_script("return document.getElementById('curves').offsetTop - innerHeight/5")
    for offset, section in ((-150, "tables"), (-30, "curves"), (-150, "tables"), (30, "curves")):
        page.execute_script("scrollTo(0, arguments[0])", edge + offset)
        wait_for_mark(page, section)


def test_a_phone_scrolls_in_one_direction_only(page: Chrome) -> None:
    phone = {"width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": True}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
    try:
        page.refresh()
        for detail in all_of(page, "details:not([open]) summary"):
            click(page, detail)
        for wanted in ("inferred_appendix_logistic_2", "inferred_table1"):
            choose(page, "table", wanted)
            widths = "return [document.documentElement.scrollWidth, innerWidth]"
            assert page.execute_script(widths) == [360, 360]
        box = one(page, "#table-inferred_table1 .scroll")
        assert page.execute_script(
            "return arguments[0].scrollWidth > arguments[0].clientWidth", box
        )
        assert one(page, "#curves svg.plot").size["width"] <= 360
    finally:
        page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_print_shows_all_tables_and_no_controls(page: Chrome) -> None:
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        assert all(box.is_displayed() for box in all_of(page, ".table-box"))
        assert not one(page, "nav").is_displayed()
        assert not any(box.is_displayed() for box in all_of(page, ".controls"))
    finally:
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_labels_name_every_control(page: Chrome) -> None:
    assert page.execute_script(UNNAMED) == []


def test_mlflow_finds_the_run(browser: Chrome, tmp_path: Path) -> None:
    settings = {"name": "mlflow", "uri": None, "experiment": "onesided"}
    tracking: Any = open_sweep(settings, tmp_path, TODAY, many=True)
    for number_, method in enumerate(("ours", "margin")):
        log_job(tracking, make_run(tmp_path, method, number_), TODAY)
    close_sweep(tracking, 0, None)
    with serving(tmp_path) as address:
        port = address.partition("127.0.0.1:")[2].partition("/")[0]
        # Two runs, both under the same made-up hash, and the sweep that MLflow shows them in.
        for run_hash, found in (("abcdef012345", 3), ("abcdef012346", 0)):
            browser.get("about:blank")
            browser.get(mlflow_link(run_hash).replace(":5000", f":{port}"))
            text = f"{found} matching runs"
            WebDriverWait(browser, PATIENCE).until(
                lambda b, text=text: text in b.find_element(By.TAG_NAME, "body").text
            )

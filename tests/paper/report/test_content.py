from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pipeline.paper.collection import Collection, CollectionError, merge
from pipeline.paper.published import METHODS
from pipeline.paper.report.content import report_data
from pipeline.view.style import LOOKS
from tests.paper.made_up_collection import near_the_paper, of_losses, without

PUBLISHED = Path("pipeline/paper/reference/published.csv")
GAP = {"dataset": "churn", "link": "linear", "cutoff": "0.5"}
COMMAND = (
    "python -m pipeline.run -m experiment=paper protocol=inferred dataset=churn link=linear "
    "cutoff=0.5 method=noise"
)


def made(collection: Collection, **more: Any) -> dict[str, Any]:
    places = {"outputs": Path("nowhere"), "page": Path("report")}
    given = {"stated": None, "hindsight": None, **places}
    return report_data(collection, **(given | more))


@pytest.fixture(scope="module")
def collection() -> Collection:
    gap = without(near_the_paper(), **GAP, method="noise")
    return without(gap, "failed", dataset="adult", link="logistic", cutoff="0.7", method="ours")


@pytest.fixture(scope="module")
def stated() -> Collection:
    return near_the_paper(seed=5, keep=lambda row: row.in_text, protocol="stated")


@pytest.fixture(scope="module")
def data(collection: Collection, stated: Collection) -> dict[str, Any]:
    return made(collection, stated=stated)


@pytest.fixture(scope="module")
def paper() -> pd.DataFrame:
    """The published figures, a row for each."""
    root = Path(__file__).parents[3]
    wide = pd.read_csv(root / PUBLISHED)
    wide["cutoff"] = wide["cutoff"].map("{:g}".format)
    return wide.melt(["link", "dataset", "cutoff"], METHODS, "method", "paper")


def key(row: pd.Series | dict[str, Any]) -> str:
    return "/".join(row[name] for name in ("link", "dataset", "cutoff", "method"))


def test_cells_are_the_figures_of_the_collection_and_the_paper(
    data: dict[str, Any], collection: Collection, paper: pd.DataFrame
) -> None:
    cells = data["cells"]["inferred"]
    both = collection.cells.merge(paper, on=["link", "dataset", "cutoff", "method"])
    assert len(cells) == len(both) == 1400
    for row in both.to_dict("records"):
        found = cells[key(row)]
        assert found["paper"]["t"] == f"{row['paper']:.2f}"
        if row["state"] != "done":
            continue
        error = row["standard_error"]
        assert found["ours"]["t"] == f"{row['loss']:.2f}"
        assert found["ours"]["e"] == f"± {error:.2f}"
        z = (row["paper"] - row["loss"]) / (error * np.sqrt(10) * np.sqrt(1 / 10 + 1 / 10))
        assert found["z"]["n"] == pytest.approx(z)
        assert found["z"]["t"] == f"{z:+.1f}".replace("-", "−")
        names = ["agrees", "differs", "strongly differs"]
        assert found["verdict"] == names[int(np.searchsorted([2, 4], abs(z)))]


def test_bold_is_the_least_of_a_row_on_both_sides(
    data: dict[str, Any], collection: Collection, paper: pd.DataFrame
) -> None:
    cells = data["cells"]["inferred"]
    rows = ["link", "dataset", "cutoff"]
    for side, frame, column in (("ours", collection.cells, "loss"), ("paper", paper, "paper")):
        for _, part in frame.groupby(rows):
            values = part[column].round(2)
            whole = values.notna().all()
            for row, value in zip(part.to_dict("records"), values, strict=True):
                if not np.isnan(value):
                    assert cells[key(row)][side]["b"] == (whole and value == values.min())


def test_the_seven_misprinted_bolds_are_marked(data: dict[str, Any]) -> None:
    marked = [c for c in data["cells"]["inferred"].values() if c["paper"].get("misprint")]
    assert len(marked) == 7
    assert not any(cell["paper"]["b"] for cell in marked)


def test_what_is_missing_has_its_command_and_no_figure(data: dict[str, Any]) -> None:
    cells = data["cells"]["inferred"]
    gap = cells["linear/churn/0.5/noise"]
    assert gap["ours"] is None
    assert gap["z"] is None
    assert (gap["state"], gap["verdict"], gap["command"]) == ("missing", "missing", COMMAND)
    failed = cells["logistic/adult/0.7/ours"]
    assert (failed["state"], failed["reason"]) == ("failed", "it broke")
    assert sum("command" in cell for cell in cells.values()) == 2
    tables = {table["id"]: table["commands"] for table in data["tables"]}
    assert tables["inferred_table1"] == tables["inferred_appendix_linear_2"] == [COMMAND]
    assert tables["inferred_appendix_linear_1"] == []
    setting = data["series"]["settings"]["linear/churn/0.5"]
    assert setting["missing"] == ["noise", COMMAND]
    assert "noise" not in setting["curves"]


def test_the_tables_have_the_papers_rows(data: dict[str, Any]) -> None:
    assert [len(table["rows"]) for table in data["tables"]] == [20, 20, 50, 50, 50, 50, 20, 20]
    assert data["tables"][1]["rows"][0] == ["logistic", "adult", "0.5"]


def test_the_overview_counts_what_agrees(data: dict[str, Any]) -> None:
    verdicts = pd.Series({k: c["verdict"] for k, c in data["cells"]["inferred"].items()})
    judged = verdicts[verdicts != "missing"]
    share = f"{(judged == 'agrees').mean():.1%}"
    assert data["overview"]["glance"][0]["value"] == share
    linear = judged[judged.index.str.startswith("linear/bank/")]
    assert data["overview"]["shares"]["linear/bank"] == f"{(linear == 'agrees').mean():.1%}"
    noise = judged[judged.index.str.match("linear/.*/noise$")]
    assert data["overview"]["shares"]["linear/noise"] == f"{(noise == 'agrees').mean():.1%}"


def test_curves_and_alphas_are_those_of_the_collection() -> None:
    rng = np.random.default_rng(3)
    methods = ("greedy", "ours", "of_mine")
    labels = [("inferred", "blood", "linear", "0.5", method) for method in methods]
    collection = of_losses(labels, rng.uniform(1, 2, (3, 3, 4)))
    data = made(collection)
    series = data["series"]
    setting = series["settings"]["linear/blood/0.5"]
    losses = collection.losses.pivot_table("loss", ["method", "alpha"], "split")
    greedy = losses.loc["greedy"].iloc[0]
    for method in methods:
        curve, alphas = setting["curves"][method], setting["alphas"][method]
        truth = collection.curves[collection.curves["method"] == method]
        assert series["lists"][curve["x"]] == truth["round"].tolist()
        np.testing.assert_allclose(curve["y"], truth["mean"], rtol=1e-4)
        np.testing.assert_allclose(curve["e"], truth["standard_error"], rtol=1e-4)
        assert series["lists"][alphas["x"]] == losses.loc[method].index.tolist()
        np.testing.assert_allclose(alphas["loss"], losses.loc[method].mean(axis=1), rtol=1e-12)
        ratio = losses.loc[method].mean(axis=1) / greedy.mean()
        np.testing.assert_allclose(alphas["y"], ratio, rtol=1e-3)
        assert alphas["tuned"] == 0.5
    assert list(data["methods"])[-1] == "of_mine"


def test_one_split_has_no_error() -> None:
    collection = of_losses([("inferred", "blood", "linear", "0.5", "greedy")], np.ones((1, 3, 1)))
    data = made(collection)
    alphas = data["series"]["settings"]["linear/blood/0.5"]["alphas"]["greedy"]
    assert alphas["e"] == [None, None, None]
    cell = data["cells"]["inferred"]["linear/blood/0.5/greedy"]
    assert (cell["verdict"], cell["z"], cell["ours"]["e"]) == ("unjudged", None, "")


def test_without_greedy_there_is_nothing_to_divide_by() -> None:
    collection = of_losses([("inferred", "blood", "linear", "0.5", "ours")], np.ones((1, 3, 4)))
    setting = made(collection)["series"]["settings"]["linear/blood/0.5"]
    assert setting["alphas"] == {}
    assert list(setting["curves"]) == ["ours"]
    assert setting["missing"][:-1] == [method for method in METHODS if method != "ours"]


def test_methods_look_as_in_the_figures(data: dict[str, Any]) -> None:
    for method, look in data["methods"].items():
        assert look["colour"] == LOOKS[method].colour
        assert look["label"] == LOOKS[method].label
        scaled = [part / look["width"] for part in look["dash"]]
        np.testing.assert_allclose(scaled, LOOKS[method].dash, rtol=0.01)


def test_the_other_protocol_stands_beside(data: dict[str, Any], stated: Collection) -> None:
    assert [table["id"] for table in data["tables"][6:]] == ["stated_table1", "stated_table2"]
    first = stated.cells[
        (stated.cells["dataset"] == "bank") & (stated.cells["cutoff"] == "0.7")
    ].iloc[0]
    assert data["cells"]["stated"][key(first)]["ours"]["t"] == f"{first['loss']:.2f}"
    assert len(data["cells"]["stated"]) == 280
    assert [row[:2] for row in data["stated"]["rows"]] == [
        [protocol, link] for protocol in ("inferred", "stated")
        for link in ("linear", "logistic", "both")
    ]  # fmt: skip
    assert sum(int(number) for number in data["stated"]["rows"][5][2:6]) == 280


def test_the_same_protocol_twice_is_refused(collection: Collection) -> None:
    with pytest.raises(CollectionError, match="--stated: its protocol is inferred"):
        made(collection, stated=near_the_paper())


def test_the_order_of_the_input_leaves_no_trace() -> None:
    parts = [near_the_paper(keep=lambda row, d=d: row.key.dataset == d) for d in ("blood", "churn")]
    assert made(merge(parts)) == made(merge(reversed(parts)))

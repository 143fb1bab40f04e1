from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import matplotlib.image
import numpy as np
import pandas as pd
import pytest

from pipeline.paper.comparison.agreement import pool
from pipeline.paper.comparison.compare import Comparison, compare
from pipeline.paper.comparison.page import headline, page, write_comparison
from pipeline.paper.published import findings
from tests.paper.made_up_collection import near_the_paper, without


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return compare(without(near_the_paper(), dataset="blood", link="linear", method="noise"))


@pytest.fixture(scope="module")
def folder(comparison: Comparison, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("comparison")
    write_comparison(comparison, folder, "inferred")
    return folder


def section(text: str, title: str) -> str:
    return text.split(f"## {title}\n")[1].split("\n## ", maxsplit=1)[0]


def test_everything_is_written(folder: Path) -> None:
    assert sorted(file.name for file in folder.iterdir()) == [
        "against_greedy.csv", "comparison.csv", "comparison.md", "comparison.png", "rows.csv",
        "summary_by_dataset.csv", "summary_by_link.csv", "summary_by_method.csv",
    ]  # fmt: skip


def test_the_csv_has_all_figures_and_no_blank(folder: Path, comparison: Comparison) -> None:
    text = (folder / "comparison.csv").read_text()
    assert ",," not in text
    found = pd.read_csv(folder / "comparison.csv", na_values=["missing"], dtype={"cutoff": "str"})
    assert len(found) == 1400
    np.testing.assert_allclose(found["z"], comparison.cells["z"], rtol=1e-5)
    assert text.count("missing,missing,missing,missing") == 10


def test_the_page_says_what_the_tables_say(folder: Path, comparison: Comparison) -> None:
    text = (folder / "comparison.md").read_text()
    total = pool(comparison)
    assert f"{total['agrees']:,} of 1,390 figures agree" in text
    assert f"in {total['wins']} of 190 rows here, in {total['wins_paper']} in the paper" in text
    links = pd.read_csv(folder / "summary_by_link.csv")
    for line in links.to_dict("records"):
        assert f"| {line['link']} | {line['agrees']} |" in section(text, "By link")
        assert f"| {line['ratio']:.3f} |" in section(text, "By link")
    assert section(text, "By dataset").count("\n| l") == 21  # a head and 20 lines
    assert section(text, "By method").count("\n| l") == 15


def test_the_largest_differences_come_first(folder: Path, comparison: Comparison) -> None:
    lines = section((folder / "comparison.md").read_text(), "Largest differences").splitlines()[3:]
    distances = [abs(float(line.split("|")[-2])) for line in lines if line]
    assert len(distances) == 15
    assert distances == sorted(distances, reverse=True)
    assert distances[0] == pytest.approx(comparison.cells["z"].abs().max(), abs=0.06)


def test_misprints_puzzles_and_gaps_are_on_the_page(folder: Path) -> None:
    text = (folder / "comparison.md").read_text()
    misprints = section(text, "Misprints")
    assert misprints.count("\n| l") == 7
    assert "| linear, Adult, 90% | os-ε-greedy | 290.51 | noise | 279.49 |" in misprints
    assert all(finding.finding in text for finding in findings())
    assert "**linear, Bank, 85%**" in section(text, "Not explained")
    command = "protocol=inferred dataset=blood link=linear cutoff=0.5,0.55"
    assert command in section(text, "Missing cells")


def test_tables_of_the_page_are_rectangular(folder: Path) -> None:
    lines = (folder / "comparison.md").read_text().splitlines()
    for before, line in pairwise(lines):
        if before.startswith("|") and line.startswith("|"):
            assert before.count("|") == line.count("|")


def test_with_nothing_done_the_page_says_so(tmp_path: Path) -> None:
    nothing = compare(without(near_the_paper(), protocol="inferred"))
    commands = write_comparison(nothing, tmp_path, "inferred")
    assert len(commands) == 2  # one for each link
    text = (tmp_path / "comparison.md").read_text()
    assert "None of the 1,400 published figures can be judged yet." in text
    assert "nan" not in text


def test_without_gaps_none_are_mentioned() -> None:
    whole = compare(near_the_paper())
    assert not any("missing" in line for line in headline(whole))
    assert "Missing cells" not in page(whole, "inferred").markdown()


def test_the_picture_is_written(folder: Path) -> None:
    pixels = matplotlib.image.imread(folder / "comparison.png")
    assert pixels.shape[1] >= 2000
    assert len(np.unique(pixels[::4, ::4, 0])) > 50

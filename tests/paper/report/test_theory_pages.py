"""The theory's pages in the report: the words, figures and pictures of the files, and no others."""

from __future__ import annotations

import base64
import re
from html import unescape
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from pipeline.paper.__main__ import main
from pipeline.paper.collection import CollectionError
from pipeline.paper.report.write import LONG, PAGES, templates, theory_html
from pipeline.theory.driver import EXPERIMENTS
from pipeline.view.page import Items, Page, Picture, Text, TextTable
from tests.paper.made_up_collection import near_the_paper
from tests.view.test_page import PAGE as PAGE_OF_ALL_KINDS

PAGE = Page(
    "A theorem & its <test>",
    [
        Text("From β* a *slope* of `R_t`, **bold**: ‖β*‖ < 2."),
        Items(["linear link: n = 10", "logistic link: n = 20"]),
        TextTable(
            ["link", "loss", "theory"],
            [["linear", "0.10 (0.05 – 0.15)", "–"], ["logistic", "2,000 ± 3", "at most 0.5"]],
        ),
    ],
)


def write_theory(folder: Path, page: Page = PAGE) -> Path:
    """Write every page, each with a picture of its own name."""
    for name in PAGES:
        (folder / name).mkdir(parents=True)
        whole = page._replace(blocks=[*page.blocks, Picture("Loss over T", f"{name}.png")])
        (folder / name / f"{name}.json").write_text(whole.json(), encoding="utf-8")
        Figure(figsize=(1, 1)).savefig(folder / name / f"{name}.png")
    return folder


def text_of(html: str) -> str:
    return unescape(re.sub(r"<[^>]+>", "", html))


def cells_of(html: str) -> list[list[str]]:
    rows = re.findall(r"(?s)<tr>(.*?)</tr>", html)
    return [[text_of(cell) for cell in re.findall(r"<t[dh].*?</t[dh]>", row)] for row in rows]


def test_a_page_is_shown_as_it_was_written(tmp_path: Path) -> None:
    folder = write_theory(tmp_path)
    sections = re.split(r"(?=<h3)", theory_html(folder))[1:]
    assert [re.findall(r'id="theory-(\w+)"', part) for part in sections] == [[p] for p in PAGES]
    html = sections[PAGES.index("rates")]
    assert '<h3 id="theory-rates">A theorem &amp; its &lt;test&gt;</h3>' in html
    words = "From β* a <i>slope</i> of <code>R_t</code>, <b>bold</b>: ‖β*‖ &lt; 2."
    assert f"<p>{words}</p>" in html
    assert "<li>linear link: n = 10</li><li>logistic link: n = 20</li>" in html
    assert cells_of(html) == [
        ["link", "loss", "theory"],
        ["linear", "0.10 (0.05 – 0.15)", "–"],
        ["logistic", "2,000 ± 3", "at most 0.5"],
    ]
    (picture,) = re.findall(r'alt="Loss over T" src="data:image/png;base64,([^"]+)"', html)
    assert base64.b64decode(picture) == (folder / "rates" / "rates.png").read_bytes()


def test_long_tables_are_folded(tmp_path: Path) -> None:
    rows = [[str(n), str(n * n)] for n in range(LONG + 1)]
    html = theory_html(write_theory(tmp_path, Page("Long", [TextTable(["n", "square"], rows)])))
    assert html.count(f"<details><summary>{LONG + 1} rows</summary>") == len(PAGES)


def test_a_missing_page_names_its_command(tmp_path: Path) -> None:
    write_theory(tmp_path)
    (tmp_path / "sgd" / "sgd.json").unlink()
    html = theory_html(tmp_path)
    assert html.count("<img") == len(PAGES) - 1
    assert "python -m pipeline.theory sgd --out outputs/paper/theory/sgd" in html


def test_without_a_folder_all_commands_are_named() -> None:
    html = theory_html(None)
    assert all(f"python -m pipeline.theory {name} " in html for name in PAGES)
    assert "--theory outputs/paper/theory" in html


def test_the_commands_are_those_of_the_theory() -> None:
    assert set(PAGES) == set(EXPERIMENTS)


def test_a_page_without_its_picture_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    near_the_paper(keep=lambda row: row.key.dataset == "blood").write(tmp_path / "c")
    write_theory(tmp_path / "theory")
    (tmp_path / "theory" / "trap" / "trap.png").unlink()
    given = ("--collection", tmp_path / "c", "--theory", tmp_path / "theory")
    assert main(["report", *map(str, given), "--out", str(tmp_path / "report")]) != 0
    said = capsys.readouterr().err
    assert "trap.png is not there; `python -m pipeline.theory trap" in said
    assert not (tmp_path / "report" / "index.html").exists()


@pytest.mark.parametrize("text", ["", "[1]", '{"title": "t"}', '{"title": "t", "blocks": [{}]}'])
def test_a_file_that_is_no_page_is_refused_in_one_line(tmp_path: Path, text: str) -> None:
    write_theory(tmp_path)
    (tmp_path / "erm" / "erm.json").write_text(text)
    with pytest.raises(CollectionError, match=r"erm.json is not a page.* writes it anew$"):
        theory_html(tmp_path)


def test_every_kind_of_block_as_html() -> None:
    page = templates().get_template("parts.html").module.page
    html = page(PAGE_OF_ALL_KINDS, "losses", {"curve.png": "data:x"})
    assert html.startswith('<h3 id="losses">Losses &amp; gains</h3><p>See <i>this</i>, <b>that</b>')
    assert "<code>R_t &lt; 2</code>; ‖β*‖ and β* are stars.</p><h4>Tables</h4>" in html
    assert "<ul><li>one</li><li>two</li></ul>" in html
    assert '<td class="text">linear</td><td>0.3</td><td class="text">none</td>' in html
    assert '<img class="sheet" alt="a curve" src="data:x">' in html
    assert html.endswith('<pre class="command">make test</pre>')

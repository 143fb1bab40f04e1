from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path

import pytest

from pipeline.paper.__main__ import main
from pipeline.paper.collection import Collection
from pipeline.paper.report.write import json_text, render
from tests.paper.made_up_collection import near_the_paper, without
from tests.paper.made_up_paper import full_collection, part_of

EVIL = "</script><img src=x onerror=alert(1)><!-- {{script}} & \u2028"


def small() -> Collection:
    return near_the_paper(keep=lambda row: row.key.dataset == "blood")


def run(*arguments: object) -> int:
    return main(["report", *map(str, arguments)])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    small().write(tmp_path / "c")
    return tmp_path


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("page")
    small().write(folder / "c")
    return page_of(folder)


@pytest.fixture(scope="module")
def data_text(page: str) -> str:
    (text,) = re.findall(r'(?s)<script type="application/json" id="data">(.*?)</script>', page)
    return str(text)


def page_of(folder: Path, *more: object) -> str:
    assert run("--collection", folder / "c", "--out", folder / "report", *more) == 0
    return (folder / "report" / "index.html").read_text(encoding="utf-8")


def test_the_same_input_gives_the_same_bytes(folder: Path, page: str) -> None:
    assert page_of(folder) == page


def test_nothing_is_loaded_from_outside(page: str) -> None:
    frame = re.sub(r'(?s)<script type="application/json".*?</script>', "", page)
    loaded = re.findall(r"""(?:src|href|url|import)\s*[=(]\s*["']?([^"')\s>]+)""", frame)
    assert {address for address in loaded if not address.startswith(("#", "data:"))} == set()
    assert "default-src 'none'" in frame
    assert "{{" not in frame


def test_the_data_are_those_of_the_collection(data_text: str) -> None:
    cell = json.loads(data_text)["cells"]["inferred"]["logistic/blood/0.7/margin"]
    cells = small().cells
    row = cells[(cells["cutoff"] == "0.7") & (cells["method"] == "margin")]
    loss = row[row["link"] == "logistic"]["loss"].item()
    assert cell["ours"]["t"] == f"{loss:.2f}"


def test_what_stands_in_the_data_cannot_leave_them() -> None:
    text = json_text({"reason": EVIL})
    assert json.loads(text) == {"reason": EVIL}
    assert not set("<>&\u2028") & set(text)


def test_fragments_escape(tmp_path: Path) -> None:
    collection = without(small(), "failed", method="ours", cutoff="0.5")
    reasons = collection.cells["reason"].where(collection.cells["reason"] == "", EVIL)
    evil = collection.cells.assign(reason=reasons).replace({"dataset": {"blood": "<i>bl"}})
    parts = (collection.losses, collection.curves)
    others = [part.replace({"dataset": {"blood": "<i>bl"}}) for part in parts]
    Collection(evil, *others).write(tmp_path / "c")
    page = page_of(tmp_path)
    assert "<img src=x" not in page
    assert "<i>bl" not in page


def test_a_page_without_results_can_be_made(tmp_path: Path) -> None:
    without(small(), dataset="blood").write(tmp_path / "c")
    page = page_of(tmp_path)
    assert "None of the 1,400 published figures can be judged yet." in page


def test_absent_parts_name_their_command(page: str) -> None:
    assert "--stated outputs/paper/stated" in page
    assert "python -m pipeline.paper hindsight --fresh" in page
    assert "The run folders are not reachable from here" in page


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "hindsight.csv is not there; `python -m pipeline.paper hindsight` writes it"),
        ("protocol,link\n", "hindsight.csv lacks the column dataset"),
    ],
)
def test_a_strange_hindsight_is_refused_in_a_line(
    folder: Path, capsys: pytest.CaptureFixture[str], content: str | None, said: str
) -> None:
    (folder / "h").mkdir()
    if content is not None:
        (folder / "h" / "hindsight.csv").write_text(content)
    out = folder / "report"
    assert run("--collection", folder / "c", "--hindsight", folder / "h", "--out", out) == 1
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert not out.exists()


def test_two_protocols_beside_are_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    near_the_paper(keep=lambda row: row.in_text, protocol="stated").write(folder / "s")
    both = ("--stated", folder / "s", folder / "c")
    assert run("--collection", folder / "c", *both, "--out", folder / "report") == 1
    assert "--stated: expected results of one protocol" in capsys.readouterr().err


@pytest.mark.slow
def test_a_full_page_is_under_10_mb(tmp_path: Path) -> None:
    full = full_collection()
    collection = part_of(full, range(10))
    assert len(collection.cells) == 1400
    assert len(collection.losses) == 10 * (1200 * 15 + 200)
    assert len(collection.curves) == 1400 * 200
    collection.write(tmp_path / "c")
    part_of(full, range(10, 20)).write(tmp_path / "fresh")
    near_the_paper(keep=lambda row: row.in_text, protocol="stated").write(tmp_path / "s")
    fresh = ("--collection", tmp_path / "c", "--fresh", tmp_path / "fresh")
    assert main(["hindsight", *map(str, fresh), "--out", str(tmp_path / "h")]) == 0
    page_of(tmp_path, "--hindsight", tmp_path / "h", "--stated", tmp_path / "s")
    assert (tmp_path / "report" / "index.html").stat().st_size < 10e6


def test_the_script_is_the_one_the_policy_names(page: str) -> None:
    script = page.rpartition("<script>")[2].partition("</script>")[0]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in page


def test_render_leaves_braces_in_the_data_alone(page: str, data_text: str) -> None:
    data = json.loads(data_text)
    data["cells"]["inferred"]["linear/blood/0.5/ours"]["reason"] = "{{style}}"
    assert page.count("color-scheme: light dark") == render(data).count("color-scheme: light dark")

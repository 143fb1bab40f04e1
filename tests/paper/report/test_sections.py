from __future__ import annotations

import json
from pathlib import Path

from pipeline.paper.collection import Collection
from pipeline.paper.report.sections import environment_part, runs_part
from tests.paper.made_up_collection import near_the_paper, without


def with_folders(outputs: Path, commits: list[str]) -> Collection:
    """A collection of two cells, as many run folders as there are commits."""
    small = near_the_paper(keep=lambda row: row.key == ("linear", "blood", "0.5"))
    chosen = small.cells[small.cells["method"].isin(["greedy", "ours"])]
    folders = [f"runs/a b/{method}/ab{k}" for k, method in enumerate(chosen["method"])]
    cells = chosen.assign(folder=folders)
    for folder, commit in zip(folders, commits, strict=False):
        (outputs / folder).mkdir(parents=True)
        (outputs / folder / "config.yaml").write_text("link: linear\n")
        known = {"commit": commit, "python": "3.12.1", "packages": {"numpy": "2.0", "x": None}}
        known |= {"data": {"hash": "0123", "source": "bundled"}}
        (outputs / folder / "environment.json").write_text(json.dumps(known))
    return Collection(cells, small.losses, small.curves)


def test_configs_are_linked_from_where_the_page_is(tmp_path: Path) -> None:
    collection = with_folders(tmp_path / "outputs", ["c1", "c1"])
    page = tmp_path / "outputs" / "deep" / "report"
    runs = runs_part(collection, tmp_path / "outputs", page)
    assert runs[0]["config"] == "../../runs/a%20b/greedy/ab0/config.yaml"
    near = runs_part(collection, tmp_path / "outputs", tmp_path / "outputs" / "report")
    assert near[1]["config"] == "../runs/a%20b/ours/ab1/config.yaml"
    assert near[1]["mlflow"].startswith("http://127.0.0.1:5000/#/experiments/")
    assert near[1]["mlflow"].endswith("searchFilter=tags.hash%20%3D%20%22ab1%22")


def test_no_link_leads_nowhere(tmp_path: Path) -> None:
    collection = with_folders(tmp_path, ["c1"])
    runs = runs_part(without(collection, method="ours"), tmp_path, tmp_path / "report")
    assert "config" in runs[0]
    assert runs[1]["state"] == "missing"
    assert not {"config", "mlflow", "alpha"} & set(runs[1])
    elsewhere = runs_part(collection, tmp_path / "gone", tmp_path / "report")
    assert not any("config" in run for run in elsewhere)


def test_environments_are_counted(tmp_path: Path) -> None:
    found = environment_part(with_folders(tmp_path, ["c1", "c2"]), tmp_path)
    assert (found["runs"], found["read"]) == (2, 2)
    versions = [group["versions"] for group in found["software"]]
    assert versions == [
        {"commit": commit, "python": "3.12.1", "numpy": "2.0"} for commit in ("c1", "c2")
    ]
    assert found["data"] == {"blood": ["0123 (bundled)"]}


def test_unreachable_outputs_are_no_error(tmp_path: Path) -> None:
    found = environment_part(with_folders(tmp_path, []), tmp_path / "gone")
    assert (found["runs"], found["read"], found["software"], found["data"]) == (2, 0, [], {})

"""The whole graph at toy size."""

from __future__ import annotations

from pathlib import Path

import paper_quick
import pytest
from omegaconf import OmegaConf


def test_a_setting_that_is_not_there_cannot_be_made_small(tmp_path: Path) -> None:
    file = tmp_path / "some.yaml"
    file.write_text("# @package _global_\n\nsplits: 10\n")
    with pytest.raises(KeyError, match="there is no split to change"):
        paper_quick.change(file, {"split": 2})
    paper_quick.change(file, {"splits": [1, 2]})
    assert file.read_text().startswith("# @package _global_\n")
    assert OmegaConf.load(file).splits == [1, 2]


@pytest.mark.slow
def test_paper_quick_makes_everything_and_touches_nothing_else(tmp_path: Path) -> None:
    before = results_of_the_project()
    assert paper_quick.main(["--out", str(tmp_path / "quick")]) == 0
    assert results_of_the_project() == before
    for name in ("tables", "tables_stated", "figures", "compare", "hindsight"):
        assert any((tmp_path / "quick" / "paper" / name).iterdir())
    page = (tmp_path / "quick" / "report" / "index.html").read_text()
    assert "diabetes" in page


def results_of_the_project() -> dict[Path, bytes]:
    files = [paper_quick.ROOT / "dvc.lock"]
    for name in ("paper", "report"):
        files += (paper_quick.ROOT / "outputs" / name).rglob("*.*")
    return {file: file.read_bytes() for file in files}

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.paper.comparison.compare import compare
from pipeline.paper.published import FINDINGS, PublishedError, findings
from tests.paper.made_up_collection import near_the_paper


def test_there_are_findings_of_every_kind() -> None:
    assert {finding.kind for finding in findings()} == {"unexplained", "caution", "misprint"}


def test_a_finding_picks_its_cells() -> None:
    comparison = compare(near_the_paper())
    (bank,) = (finding for finding in findings() if finding.about["dataset"] == ("bank",))
    part = comparison.of(**bank.about)
    assert len(part.cells) == 7
    assert set(part.cells["cutoff"]) == {"0.85"}
    assert len(part.rows) == 1
    assert bank.is_local
    everywhere = next(finding for finding in findings() if not finding.about["link"])
    assert len(comparison.of(**everywhere.about).cells) == 1400
    assert not everywhere.is_local


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("kind,links", "kind,link", "expected the columns"),
        ("unexplained,linear,bank", "unexplained,linear,bnak", "'bnak'"),
        ("unexplained,linear,bank,0.85", "unexplained,linear,bank,0.86", "'0.86'"),
        ("caution,", "rumour,", "line 10: expected a finding of kind"),
    ],
)
def test_a_wrong_line_is_refused(tmp_path: Path, old: str, new: str, said: str) -> None:
    text = FINDINGS.read_text(encoding="utf-8")
    assert old in text
    file = tmp_path / "findings.csv"
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(PublishedError, match=said):
        findings(file)

from __future__ import annotations

from pipeline.paper.comparison.compare import compare
from pipeline.paper.published import findings, published
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
    everywhere = next(finding for finding in findings() if not finding.about["link"])
    assert len(comparison.of(**everywhere.about).cells) == 1400


def test_a_finding_says_something_of_rows_that_are_published() -> None:
    for finding in findings():
        assert finding.finding
        for label, wanted in finding.about.items():
            assert set(wanted) <= {getattr(row.key, label) for row in published()}

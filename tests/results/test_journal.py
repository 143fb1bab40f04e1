from __future__ import annotations

from pathlib import Path

from pipeline.results.journal import Journal, Run, find_sweeps


def test_a_journal_reads_what_it_wrote(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "sweeps" / "now")
    assert journal.about == {}
    journal.open({"jobs": 2})
    entry = Run(11, "running", labels={"dataset": "blood"}, progress=0.5)
    journal.write(entry)
    journal.write(Run(2, "failed", reason="it broke"))
    assert journal.read(11) == entry
    assert journal.read(3) is None
    assert [found.number for found in journal.runs()] == [2, 11]
    assert [found.path for found in find_sweeps(tmp_path)] == [journal.path]
    assert entry.but(state="computed").state == "computed"

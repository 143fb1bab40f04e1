from __future__ import annotations

import csv
import sys
from pathlib import Path

import pytest

from pipeline.jobs import summary
from pipeline.jobs.lines import BOLD
from pipeline.jobs.summary import report
from pipeline.results.runs import RunFolder
from pipeline.results.sweeps import Entry, Journal
from tests.results.made_up import made_up


def job(
    tmp_path: Path, number: int, method: str, cutoff: str = "0.5", *, groups: bool = False
) -> Entry:
    """Return a finished job; the seed of its made-up figures is its number."""
    labels = dict(
        zip(
            ("protocol", "dataset", "link", "cutoff", "method"),
            ("inferred", "blood", "linear", cutoff, method),
            strict=True,
        )
    )
    folder = RunFolder(tmp_path.joinpath("runs", *labels.values(), "0123456789ab"))
    outcome = made_up(number, groups)
    folder.save(outcome, "config: 1\n", {}, 1.0)
    return Entry(number, "computed", labels, str(folder.path), outcome.summary)


def lines_of(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().out.splitlines()


def test_methods_are_columns_and_cutoffs_are_rows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal = Journal(tmp_path / "sweep")
    entries = [
        job(tmp_path, 0, "greedy", "0.5"),
        job(tmp_path, 1, "ours", "0.5"),
        job(tmp_path, 2, "ours", "0.7"),
    ]
    assert report(journal, entries, 3, stopped=False) == 0
    lines = lines_of(capsys)
    assert lines[1].startswith("blood, linear link, protocol inferred")
    assert "3 splits" in lines[1]
    assert lines[2].split() == ["greedy", "ours"]
    figures = [f"{e.summary['loss']:.2f}" for e in entries if e.summary]
    assert lines[3].split()[0] == "50%"
    assert [figures[0], figures[1]] == [lines[3].split()[1], lines[3].split()[4]]
    assert lines[4].split() == ["alpha", "1/2", "1/2"]
    assert lines[5].split()[:2] == ["70%", "missing"]
    assert figures[2] in lines[5]
    picture = journal.path / "inferred_blood_linear.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert f"picture:  {picture}" in lines
    with (journal.path / "summary.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [float(row["loss"]) for row in rows] == [e.summary["loss"] for e in entries if e.summary]


def test_only_the_best_is_bold_and_only_in_a_terminal(tmp_path: Path) -> None:
    entries = [job(tmp_path, 0, "greedy"), job(tmp_path, 1, "ours")]
    best = min(entries, key=lambda entry: (entry.summary or {})["loss"])
    table = list(summary._table(("inferred", "blood", "linear"), entries, bold=True))
    (marked,) = [line for line in table if BOLD in line]
    assert marked.count(BOLD) == 1
    text = f"{(best.summary or {})['loss']:.2f}"
    assert text in marked.split(BOLD)[1].split("\033")[0]
    plain = summary._table(("inferred", "blood", "linear"), entries, bold=False)
    assert not any(BOLD in line for line in plain)


def test_groups_have_a_table_of_their_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entries = [job(tmp_path, n, m, groups=True) for n, m in enumerate(("greedy", "ours"))]
    report(Journal(tmp_path / "sweep"), entries, 2, stopped=False)
    lines = lines_of(capsys)
    start = next(n for n, line in enumerate(lines) if line.startswith("by group, 50%"))
    assert lines[start + 1].split() == ["greedy", "ours"]
    losses = [(entry.summary or {})["loss"] for entry in entries]
    for line, share in zip(lines[start + 2 : start + 4], (0.25, 0.75), strict=True):
        for loss in losses:
            assert f"{share * loss:.2f} / 50.0% / 25.0%" in line


def test_every_failure_is_named_and_counts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = job(tmp_path, 0, "greedy")
    bad = [good.but(number=n, state="failed", reason=f"reason {n}") for n in (1, 2)]
    assert report(Journal(tmp_path / "sweep"), [good, *bad], 4, stopped=True) == 3
    out = "\n".join(lines_of(capsys))
    assert "2 failed:" in out
    assert "FAILED: reason 1" in out
    assert "FAILED: reason 2" in out
    assert "1 of 4 jobs did not finish" in out
    assert out.count("traceback.txt") == 2


def test_what_is_not_in_mlflow_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    entry = job(tmp_path, 0, "ours").but(untracked="the server is down")
    assert report(Journal(tmp_path / "sweep"), [entry], 1, stopped=False) == 0
    assert "1 jobs are not in MLflow (the server is down)" in lines_of(capsys)


def test_the_table_asks_mlflow_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many runs a store has, the end of a sweep takes as long."""
    monkeypatch.setitem(sys.modules, "mlflow", None)  # an import would fail
    entries = [job(tmp_path, 0, "greedy").but(tracked="a run"), job(tmp_path, 1, "ours")]
    assert report(Journal(tmp_path / "sweep"), entries, 2, stopped=False) == 0
    assert lines_of(capsys)[2].split() == ["greedy", "ours"]

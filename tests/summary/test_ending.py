from __future__ import annotations

import contextlib
import csv
import functools
import io
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pipeline.results.journal import Journal, Run
from pipeline.results.outcome import Outcome
from pipeline.results.runs import RunFolder
from pipeline.summary.ending import report
from pipeline.summary.layout import Sheet, lay_out
from pipeline.summary.tables import print_losses
from pipeline.view import text_table
from pipeline.view.curves import Panel
from tests.results.made_up import made_up

BOLD = "\033[1m"


def job(
    tmp_path: Path,
    number: int,
    method: str,
    cutoff: str = "0.5",
    *,
    groups: bool = False,
    names: Sequence[str] = ("a", "b"),
) -> Run:
    """Return a finished job; the seed of its made-up figures is its number."""
    labels = dict(
        zip(
            ("protocol", "dataset", "link", "cutoff", "method"),
            ("inferred", "blood", "linear", cutoff, method),
            strict=True,
        )
    )
    folder = RunFolder(tmp_path.joinpath("runs", *labels.values(), f"{number:012}"))
    outcome = renamed(made_up(number, groups), names)
    folder.save(outcome, "config: 1\n", {}, 1.0)
    return Run(number, "computed", labels, str(folder.path), outcome.summary)


def renamed(outcome: Outcome, names: Sequence[str]) -> Outcome:
    """Return an outcome whose two groups have other names."""
    if outcome.groups is None:
        return outcome
    known = dict(zip(("a", "b"), names, strict=True))
    groups = np.array([known[name] for name in outcome.groups["group"]], dtype=object)
    return replace(outcome, groups={**outcome.groups, "group": groups})


def sweep_of(tmp_path: Path, *overrides: Sequence[str]) -> Journal:
    """Return the journal of a sweep with these overrides of its jobs."""
    journal = Journal(tmp_path / "sweep")
    journal.open({"overrides": [list(job) for job in overrides]})
    return journal


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


def test_the_head_says_what_is_an_approximation(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entries = [
        job(tmp_path, 0, "passive", groups=True),
        job(tmp_path, 1, "passive_cover", groups=True),
    ]
    report(Journal(tmp_path / "sweep"), entries, 2, stopped=False)
    heads = [line.split() for line in lines_of(capsys) if "(approx.)" in line]
    assert heads == [["passive", "passive", "(approx.)"]] * 2  # of the losses, and by group


def _printed(sheet: Sheet, **options: bool) -> list[str]:
    """Return the table of losses as it comes out of a console of that kind."""
    stream = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(stream):
        patch.setattr(text_table, "Console", functools.partial(text_table.Console, **options))
        print_losses(sheet)
    return stream.getvalue().splitlines()


def test_only_the_best_is_bold_and_only_in_a_terminal(tmp_path: Path) -> None:
    entries = [job(tmp_path, 0, "greedy"), job(tmp_path, 1, "ours")]
    best = min(entries, key=lambda entry: (entry.summary or {})["loss"])
    (sheet,) = lay_out(entries, [])
    table = _printed(sheet, force_terminal=True)
    (marked,) = [line for line in table if BOLD in line]
    assert marked.count(BOLD) == 1
    text = f"{(best.summary or {})['loss']:.2f}"
    assert text in marked.split(BOLD)[1].split("\033")[0]
    assert not any(BOLD in line for line in _printed(sheet))


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
    assert "1 of 4 cells did not finish" in out
    assert out.count("traceback.txt") == 2


def test_what_is_not_in_mlflow_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    entry = job(tmp_path, 0, "ours").but(untracked="the server is down")
    assert report(Journal(tmp_path / "sweep"), [entry], 1, stopped=False) == 0
    assert "1 cells are not in MLflow (the server is down)" in lines_of(capsys)


def test_the_table_asks_mlflow_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many runs a store has, the end of a sweep takes as long."""
    monkeypatch.setitem(sys.modules, "mlflow", None)  # an import would fail
    entries = [job(tmp_path, 0, "greedy").but(tracked="a run"), job(tmp_path, 1, "ours")]
    assert report(Journal(tmp_path / "sweep"), entries, 2, stopped=False) == 0
    assert lines_of(capsys)[2].split() == ["greedy", "ours"]


def test_a_sweep_over_groups_has_a_table_for_each_set_of_groups(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One table with the groups of the first job would look in vain for them in the others."""
    kinds = {"sex": ("f", "m"), "race": ("black", "white"), "null": None}
    entries, overrides = [], []
    for kind, names in kinds.items():
        for method in ("greedy", "ours"):
            overrides.append([f"dataset.group={kind}", f"method={method}"])
            number, groups = len(entries), names is not None
            made = job(tmp_path, number, method, groups=groups, names=names or ("", ""))
            entries.append(made)
    report(sweep_of(tmp_path, *overrides), entries, 6, stopped=False)
    lines = lines_of(capsys)
    heads = [n for n, line in enumerate(lines) if line.startswith("by group, 50%")]
    assert [lines[n].split(":")[0].split("group=")[1] for n in heads] == ["sex", "race"]
    for head, names in zip(heads, (kinds["sex"], kinds["race"]), strict=True):
        assert lines[head + 1].split() == ["greedy", "ours"]
        assert {line.split()[0] for line in lines[head + 2 : head + 4]} == set(names or ())


def test_columns_do_not_run_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kinds = ("sex_of_the_applicant", "race_of_the_applicant")
    overrides = [[f"dataset.group={kind}"] for kind in kinds]
    entries = [
        job(tmp_path, n, "ours", groups=True, names=("a" * 45, f"b{n}")) for n in range(len(kinds))
    ]
    report(sweep_of(tmp_path, *overrides), entries, 2, stopped=False)
    lines = lines_of(capsys)
    assert not any("applicantours" in line for line in lines)
    assert any(line.startswith(f"  {'a' * 39}… ") for line in lines)


def test_many_seeds_are_one_column(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their mean and its standard error over seeds, in the table and in the picture."""
    drawn: list[tuple[Panel, str]] = []
    monkeypatch.setattr(
        "pipeline.view.curves.draw",
        lambda panels, _, title: drawn.extend((panel, title) for panel in panels),
    )
    overrides = [
        [f"method={method}", f"dataset.seed={seed}"]
        for method in ("greedy", "ours")
        for seed in range(30)
    ]
    entries = [
        job(tmp_path, n, line[0].partition("=")[2], groups=True) for n, line in enumerate(overrides)
    ]
    report(sweep_of(tmp_path, *overrides), entries, 60, stopped=False)
    lines = lines_of(capsys)
    assert lines[1].endswith("loss ± standard error, mean over 30 seeds of 3 splits each")
    assert lines[2].split() == ["greedy", "ours"]
    losses = np.array([(entry.summary or {})["loss"] for entry in entries]).reshape(2, 30)
    errors = losses.std(axis=1, ddof=1) / np.sqrt(30)
    shown = [f"{mean:.2f} ± {se:.2f}" for mean, se in zip(losses.mean(axis=1), errors, strict=True)]
    assert lines[3].split("  ")[0] == "50%"
    assert all(text in lines[3] for text in shown)
    assert f"{0.25 * losses[0].mean():.2f} / 50.0% / 25.0%" in "\n".join(lines)
    assert max(map(len, lines[:8])) < 100
    ((panel, title),) = drawn
    assert list(panel.lines) == ["greedy", "ours"]
    assert "mean over 30 seeds" in title
    ends = [panel.lines[name].mean[-1] for name in ("greedy", "ours")]
    np.testing.assert_allclose(ends, losses.mean(axis=1) / 10)  # R_T / T
    errors_drawn = [panel.lines[name].error[-1] for name in ("greedy", "ours")]
    np.testing.assert_allclose(errors_drawn, errors / 10)


def test_seeds_that_failed_are_not_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    overrides = [[f"seed={seed}"] for seed in range(5)]
    entries = [job(tmp_path, n, "ours") for n in range(5)]
    entries[2] = entries[2].but(state="failed", reason="the sky fell")
    report(sweep_of(tmp_path, *overrides), entries, 5, stopped=False)
    out = "\n".join(lines_of(capsys))
    assert "mean over 4 seeds" in out
    assert "ours seed=2" in out


def test_many_variants_are_rows_and_panels(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    overrides = [
        [f"method={method}", f"protocol.delay={delay}"]
        for method in ("greedy", "ours")
        for delay in range(45)
    ]
    entries = [job(tmp_path, n, line[0].partition("=")[2]) for n, line in enumerate(overrides)]
    (sheet,) = lay_out(entries, overrides)
    assert len(sheet.rows) == 45
    assert sheet.columns == [("greedy", ""), ("ours", "")]
    lines = _printed(sheet)
    assert lines[2].startswith("50% protocol.delay=0 ")
    assert lines[-1] == "and 5 rows more: see the numbers in summary.csv"
    assert max(map(len, lines)) < 100
    report(sweep_of(tmp_path, *overrides), entries, 90, stopped=False)
    assert "picture: " in capsys.readouterr().out


def test_a_few_variants_of_one_method_share_a_panel(tmp_path: Path) -> None:
    overrides = [[f"protocol.delay={delay}"] for delay in (0, 5, 30)]
    (sheet,) = lay_out([job(tmp_path, n, "ours") for n in range(3)], overrides)
    assert sheet.rows == [("0.5", "")]
    assert sheet.columns == [("ours", f"protocol.delay={delay}") for delay in (0, 5, 30)]


def test_a_failure_without_a_folder_has_its_traceback_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal = Journal(tmp_path / "sweep")
    journal.trace_file(0).parent.mkdir(parents=True)
    journal.trace_file(0).write_text("Traceback …")
    report(journal, [Run(n, "failed", reason="no data") for n in range(2)], 2, stopped=False)
    named = [line.strip() for line in lines_of(capsys) if "traceback" in line]
    assert named == [str(tmp_path / "sweep" / "jobs" / "00000.traceback.txt")]

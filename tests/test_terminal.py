"""What reaches a terminal, a spreadsheet and a database when names are odd."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from pipeline.command_line import FAILED
from pipeline.data.__main__ import main as data_command
from pipeline.results.average import GroupRates
from pipeline.results.frame import write_summary
from pipeline.results.journal import Run
from pipeline.summary.tables import _print_group_table
from pipeline.terminal import complain, printable
from pipeline.tracking.store import store_uri
from pipeline.tracking.tracker import log_job, open_sweep
from pipeline.view.names import run_text
from tests.commands import LONGEST, ROOT
from tests.tracking.made import TODAY, make_run

EVIL = "\033]0;owned\007\033[2J"
LABELS = {"protocol": "p", "dataset": "d", "link": "l", "cutoff": "0.5", "method": "m"}


def test_printable() -> None:
    assert printable("ü ± 50% 日本") == "ü ± 50% 日本"
    assert printable(EVIL + "a\nb") == "�]0;owned��[2Ja�b"


def test_escape_codes_of_names_and_reasons_reach_no_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    failed = Run(0, "failed", {**LABELS, "method": f"m{EVIL}"}, reason=f"no {EVIL}")
    rates = {"": {EVIL: GroupRates(EVIL, 1.0, 0.5, None, 3)}}
    _print_group_table({("m", ""): rates[""]})
    table = capsys.readouterr().out
    assert "owned" in table
    for text in (run_text(failed), table):
        assert "\033" not in text
        assert "\007" not in text


def test_escape_codes_of_columns_reach_no_terminal_by_way_of_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "table.csv"
    file.write_text(f"a{EVIL},y\n1,0\n2,1\n")
    assert data_command(["describe", str(file), "--target", "z"]) == FAILED
    said = capsys.readouterr().err
    assert "known: a�]0;owned��[2J, y" in said
    assert "\033" not in said


def test_a_complaint_keeps_its_lines(capsys: pytest.CaptureFixture[str]) -> None:
    complain(f"first {EVIL}\nsecond")
    assert capsys.readouterr().err == "first �]0;owned��[2J\nsecond\n"


def _summary_of(run: Run, folder: Path) -> dict[str, str]:
    write_summary([run], folder / "summary.csv")
    with (folder / "summary.csv").open(newline="") as file:
        (row,) = csv.DictReader(file)
    return row


@pytest.mark.parametrize("start", list("=+-@"))
def test_no_cell_of_the_summary_starts_a_formula(start: str, tmp_path: Path) -> None:
    entry = Run(0, "failed", {**LABELS, "dataset": f"{start}1+1"}, reason=f"{start}cmd|'/c'!A1")
    row = _summary_of(entry, tmp_path)
    assert row["dataset"] == f"'{start}1+1"
    assert row["reason"] == f"'{start}cmd|'/c'!A1"
    assert row["method"] == "m"


def test_no_control_letter_of_a_name_breaks_a_line_of_the_summary(tmp_path: Path) -> None:
    entry = Run(0, "failed", {**LABELS, "dataset": "\r=1+1\n\t"}, reason="no")
    row = _summary_of(entry, tmp_path)
    assert row["dataset"] == "�=1+1��"


@pytest.mark.parametrize("name", ["a?b", "c%20d", "e%f?g=h", "plain"])
def test_the_database_of_an_odd_folder_lies_in_it(name: str, tmp_path: Path) -> None:
    outputs = tmp_path / name
    settings = {"name": "mlflow", "uri": None, "experiment": "onesided"}
    tracking = open_sweep(settings, outputs, TODAY, many=True)
    assert tracking is not None
    log_job(tracking, make_run(outputs), TODAY)
    assert (outputs / "mlflow.db").stat().st_size > 0
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_relative_database_is_found_from_an_odd_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a?b").mkdir()
    monkeypatch.chdir(tmp_path / "a?b")
    assert store_uri("sqlite:///x.db", tmp_path) == f"sqlite:///{tmp_path}/a%3Fb/x.db"


def in_plain_letters(folder: Path, *words: str) -> subprocess.CompletedProcess[bytes]:
    """Run a command where there is nothing but ASCII."""
    plain = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    plain = {key: value for key, value in plain.items() if key != "PYTHONIOENCODING"}
    return subprocess.run(
        [sys.executable, "-m", *words],
        cwd=folder,
        env={**plain, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
        timeout=LONGEST,
    )


def test_a_terminal_without_the_letters_gets_others(tmp_path: Path) -> None:
    """All results are there; a ± that cannot be printed must not make a failure of it."""
    small = ("dataset=blood", "splits=2", "alpha=[0.5]", "tracking=none", f"outputs={tmp_path}")
    done = in_plain_letters(tmp_path, "pipeline.run", *small)
    assert done.returncode == 0, done.stderr
    assert b"loss ? standard error" in done.stdout
    (file,) = tmp_path.glob("sweeps/*/summary.csv")
    assert pd.read_csv(file)["state"].tolist() == ["computed"]


@pytest.mark.parametrize("words", ["list", "describe blood"])
def test_data_are_described_there_too(words: str, tmp_path: Path) -> None:
    done = in_plain_letters(tmp_path, "pipeline.data", *words.split())
    assert done.returncode == 0, done.stderr
    assert b"blood" in done.stdout

from __future__ import annotations

from pathlib import Path

import pandas as pd

from pipeline.cells.read import make_cell
from pipeline.data.sources import Settings
from pipeline.results.journal import Journal
from pipeline.summary.inferred import note_lines, write_notes
from tests.cells.configs import values

DATA = Settings.of(offline=True)


def write(journal: Journal, file: Path, *overrides: str) -> None:
    own = ("dataset=csv", f"dataset.path={file}", "dataset.target=y")
    write_notes(journal, make_cell(values(*own, *overrides)), DATA)


def table(file: Path, columns: int = 2) -> Path:
    frame = {f"x{k}": [0.5, 1.5, 2.5 + k, 7.0] for k in range(columns)}
    pd.DataFrame({**frame, "sex": list("fmfm"), "y": [0, 1, 0, 1]}).to_csv(file, index=False)
    return file


def test_the_jobs_of_a_table_say_it_once(tmp_path: Path) -> None:
    journal, file = Journal(tmp_path / "sweep"), table(tmp_path / "my_loans.csv")
    for method in ("greedy", "ours"):
        write(journal, file, f"method={method}")
    lines = list(note_lines(journal))
    assert lines[:2] == ["", "my_loans, inferred:"]
    assert sum("x0" in line for line in lines) == 1
    assert lines[-1] == "  3 columns make 4 features"


def test_a_table_read_in_two_ways_says_what_differs(tmp_path: Path) -> None:
    journal, file = Journal(tmp_path / "sweep"), table(tmp_path / "loans.csv")
    for group in ("sex", "null"):
        write(journal, file, f"dataset.group={group}")
    lines = list(note_lines(journal))
    assert sum("x0" in line for line in lines) == 1
    assert sum("group: sex" in line for line in lines) == 1
    assert "loans, inferred where it was read in another way:" in lines


def test_a_long_list_is_cut_with_the_command_that_shows_all(tmp_path: Path) -> None:
    journal, file = Journal(tmp_path / "sweep"), table(tmp_path / "loans.csv", columns=30)
    write(journal, file, "dataset.group=sex")
    lines = list(note_lines(journal))
    assert len(lines) == 2 + 8
    command = f"python -m pipeline.data describe {file} --target=y --group=sex"
    assert lines[-2] == f"  … 26 more: {command}"
    assert lines[-1] == "  30 columns make 30 features"


def test_nothing_is_inferred_from_what_is_declared(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "sweep")
    write_notes(journal, make_cell(values("dataset=blood")), DATA)
    assert list(note_lines(journal)) == []
    assert not journal.path.exists()


def test_a_table_that_is_gone_is_no_failure(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "sweep")
    write(journal, tmp_path / "gone.csv")
    assert list(note_lines(journal)) == []

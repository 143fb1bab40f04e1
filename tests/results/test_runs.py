from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pipeline.results.average import group_rates
from pipeline.results.outcome import Outcome
from pipeline.results.runs import RunFolder, find_runs
from tests.results.made_up import made_up


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder(tmp_path / "runs/inferred/blood/linear/0.5/ours/0123456789ab")


def save(folder: RunFolder, outcome: Outcome) -> None:
    folder.save(outcome, "config: 1\n", {"python": "3"}, 1.5)


@pytest.mark.parametrize("groups", [False, True])
def test_what_is_saved_is_read(folder: RunFolder, groups: bool) -> None:
    outcome = made_up(groups=groups)
    assert folder.state == "missing"
    save(folder, outcome)
    assert folder.state == "done"
    found = folder.outcome()
    assert found.summary == outcome.summary
    for part in ("losses", "curves", "groups"):
        mine, theirs = getattr(outcome, part), getattr(found, part)
        assert (mine is None) == (theirs is None)
        for name in mine or {}:
            np.testing.assert_array_equal(mine[name], theirs[name])


def test_the_same_outcome_gives_the_same_bytes(tmp_path: Path) -> None:
    folders = [RunFolder(tmp_path / name / "runs/p/d/l/0.5/m/h") for name in "ab"]
    for folder in folders:
        save(folder, made_up(groups=True))
    first, second = ({p.name: p.read_bytes() for p in f.path.iterdir()} for f in folders)
    assert first == second
    assert set(first) == {
        "config.yaml", "curves.parquet", "environment.json", "groups.parquet", "losses.parquet",
        "status.json", "summary.json",
    }  # fmt: skip


def test_without_status_there_is_no_result(folder: RunFolder) -> None:
    save(folder, made_up())
    (folder.path / "status.json").unlink()
    assert folder.state == "missing"
    with pytest.raises(FileNotFoundError):
        folder.outcome()


def test_a_failure_is_recorded_and_mended(folder: RunFolder) -> None:
    folder.fail("config: 1\n", "it broke", "Traceback …")
    assert folder.state == "failed"
    assert folder.status["reason"] == "it broke"
    assert (folder.path / "traceback.txt").read_text() == "Traceback …"
    save(folder, made_up())
    assert folder.state == "done"
    assert not (folder.path / "traceback.txt").exists()


def test_a_failure_does_not_undo_a_finished_run(folder: RunFolder) -> None:
    save(folder, made_up())
    folder.fail("config: 1\n", "too late", "Traceback …")
    assert folder.state == "done"


def test_runs_are_found_and_named(folder: RunFolder, tmp_path: Path) -> None:
    save(folder, made_up())
    (found,) = find_runs(tmp_path)
    assert found.path == folder.path
    assert found.labels == {
        "protocol": "inferred",
        "dataset": "blood",
        "link": "linear",
        "cutoff": "0.5",
        "method": "ours",
    }


def test_a_table_with_other_columns_is_refused(folder: RunFolder) -> None:
    outcome = made_up()
    del outcome.losses["wasted"]
    with pytest.raises(ValueError, match="wasted"):
        save(folder, outcome)
    assert folder.state == "missing"


def test_group_rates_by_hand() -> None:
    first, second = group_rates(made_up(groups=True))
    loss = made_up().summary["loss"]
    assert (first.group, second.group) == ("a", "b")
    assert first.loss == pytest.approx(0.25 * loss)
    assert second.loss == pytest.approx(0.75 * loss)
    assert first.accepted_rate == 0.5  # 3 × 5 of 3 × 10
    assert first.missed_rate == 0.25  # 3 × 1 of 3 × 4
    assert first.rows == 30
    assert group_rates(made_up()) == []

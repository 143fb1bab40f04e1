"""A whole experiment from one command: the run folders of a sweep, gathered."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.paper.collection import Collection
from pipeline.reproduce import DONE, REFUSED, main

TOY = ("experiment=smoke", "dataset=blood", "link=linear", "splits=2", "alpha=[0.1,1]", "n_jobs=1")


def test_an_experiment_is_run_and_gathered(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "gathered"
    command = [*TOY, f"outputs={tmp_path / 'outputs'}", "--out", str(out)]
    assert main(command) == DONE
    found = Collection.read(out)
    assert sorted(set(found.cells["method"])) == ["greedy", "margin", "ours"]
    assert set(found.cells["state"]) == {"done"}
    assert len(found.losses) == 2 * (1 + 2 + 2) * 2  # cutoffs × alphas of the methods × splits
    best = found.losses.groupby(["cutoff", "method", "alpha"])["loss"].mean()
    for row in found.cells.itertuples():
        assert row.loss == pytest.approx(best[row.cutoff, row.method].min())
    assert "6 computed now: 20 online runs" in capsys.readouterr().out
    assert main(command) == DONE
    assert "0 computed now" in capsys.readouterr().out


def test_what_makes_no_sense_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["experiment=papre", "--out", str(tmp_path)])
    assert stop.value.code == REFUSED
    assert "did you mean 'paper'?" in capsys.readouterr().err

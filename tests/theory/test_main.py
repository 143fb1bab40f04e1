from __future__ import annotations

import argparse
import importlib
import typing
from pathlib import Path

import pandas as pd
import pytest
from matplotlib.figure import Figure

from pipeline.theory.__main__ import OLD_NAMES, main
from pipeline.theory.driver import EXPERIMENTS, Measured, run
from pipeline.view.page import Page, read_page

SHAPE = ("measure", "page", "figure")


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_all_experiments_have_the_same_shape(name: str) -> None:
    """The driver calls them all alike, so they take the same and return the same."""
    module = importlib.import_module(f"pipeline.theory.{name}")
    found = [typing.get_type_hints(getattr(module, function)) for function in SHAPE]
    assert [list(hints)[:-1] for hints in found] == [["options"], ["found"], ["found"]]
    measured = found[0]["return"]
    assert typing.get_origin(measured) is Measured
    assert all(hints["found"] == measured for hints in found[1:])
    assert [hints["return"] for hints in found[1:]] == [Page, Figure]
    assert module.EXPERIMENTS
    assert all(isinstance(about, str) for about in module.OPTIONS.values())


def test_what_is_measured_is_written_as_tables_page_and_figure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = pd.DataFrame({"loss": [1 / 3], "runs": [40]})
    found: Measured[None] = Measured({"one": table}, [], ["said"])
    whole = Page("A title", [])
    monkeypatch.setattr("pipeline.theory.trap.measure", lambda _: found)
    monkeypatch.setattr("pipeline.theory.trap.page", lambda _: whole)
    monkeypatch.setattr("pipeline.theory.trap.figure", lambda _: Figure())
    said = list(run("trap", argparse.Namespace(out=tmp_path / "out")))
    assert said == ["said", f"trap: {tmp_path / 'out'}"]
    files = {file.name for file in (tmp_path / "out").iterdir()}
    assert files == {"one.csv", "trap.md", "trap.json", "trap.png", "trap.pdf"}
    assert (tmp_path / "out" / "one.csv").read_text() == "loss,runs\n0.333333,40\n"
    assert read_page(tmp_path / "out" / "trap.json") == whole


@pytest.mark.parametrize("old", OLD_NAMES)
def test_old_names_still_work(old: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main([old, "--help"])
    assert stop.value.code == 0
    assert "--runs" in capsys.readouterr().out


def test_every_command_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["--help"])
    assert stop.value.code == 0
    text = capsys.readouterr().out
    for name in EXPERIMENTS:
        assert name in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["trap", "dataset.gap=0"], "gap must be a finite number > 0"),
        (["trap", "dataset.gapp=1"], "there is no config key 'dataset.gapp'"),
        (["rates", "dataset.n=100"], "two different sizes"),
        (["rates", "alpha=[1,2]"], "alpha: rates are those of one alpha"),
    ],
)
def test_an_error_is_one_line(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    toy = ["dataset.seed=0", "tracking=none", "n_jobs=1", f"outputs={tmp_path / 'outputs'}"]
    if not any(word.startswith("dataset.n=") for word in arguments):
        toy.append("dataset.n=60,90" if arguments[0] == "rates" else "dataset.n=100")
    assert main([*arguments, *toy, "--out", str(tmp_path / "out")]) == 1
    said = [line for line in capsys.readouterr().err.splitlines() if not line.startswith("[")]
    assert len([line for line in said if line.startswith("error: ")]) == 1
    assert message in said[-1]
    assert not (tmp_path / "out").exists()


def test_a_command_that_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["trapp", "--out", "x"])
    assert stop.value.code == 2
    assert "trap" in capsys.readouterr().err

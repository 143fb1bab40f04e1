from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.paper.__main__ import COMMANDS, main
from tests.paper.made_up_collection import near_the_paper, without


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("collections")
    for link in ("linear", "logistic"):
        near_the_paper(keep=lambda row, link=link: row.key.link == link).write(folder / link)
    near_the_paper(keep=lambda row: row.in_text, protocol="stated").write(folder / "stated")
    return folder


def run(*arguments: object) -> int:
    return main([str(argument) for argument in arguments])


def test_collections_are_joined(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both = ("--collection", folder / "linear", folder / "logistic", "--out", tmp_path)
    assert run("tables", *both) == 0
    assert "missing" not in capsys.readouterr().out
    assert len(list(tmp_path.iterdir())) == 19
    assert run("compare", *both) == 0
    assert "of 1,400 figures agree" in capsys.readouterr().out
    assert (tmp_path / "comparison.png").is_file()


def test_some_tables_of_another_protocol(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    there = ("--collection", folder / "stated", folder / "linear", "--out", tmp_path)
    assert run("tables", *there) == 1
    assert "there are: inferred, stated" in capsys.readouterr().err
    assert run("tables", *there, "--protocol", "stated", "--only", "table1", "table2") == 0
    assert "missing" not in capsys.readouterr().out


def test_gaps_and_failures_are_printed_with_their_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    labels = {"dataset": "churn", "link": "linear", "cutoff": "0.5"}
    whole = near_the_paper()
    gap = without(without(whole, **labels, method="ours"), "failed", **labels, method="noise")
    gap.write(tmp_path / "c")
    for command in ("tables", "compare"):
        assert run(command, "--collection", tmp_path / "c", "--out", tmp_path / command) == 0
        printed = capsys.readouterr().out
        assert "dataset=churn link=linear cutoff=0.5 method=noise,ours" in printed
    assert run("tables", "--collection", tmp_path / "c", "--out", tmp_path / "tables") == 0
    assert "linear, Churn, 50%, noise: it broke" in capsys.readouterr().out


def test_an_error_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("compare", "--collection", tmp_path, "--out", tmp_path / "out") == 1
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_every_command_explains_itself(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["--help"])
    assert stop.value.code == 0
    text = capsys.readouterr().out
    for name, command in COMMANDS.items():
        assert name in text
        assert command.__doc__

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.theory.__main__ import COMMANDS, main, parser


def test_every_command_is_listed() -> None:
    text = parser().format_help()
    for name in COMMANDS:
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

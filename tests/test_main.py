"""The command ``onesided``: what it lists, what it passes on, how its pages look."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import bootstrap
import pandas as pd
import pytest

from pipeline.__main__ import COMMANDS, main
from tests.commands import LONGEST

ROOT = Path(__file__).parents[1]
WIDTH = 80
NAMES = ("onesided", "python -m pipeline")


def call(monkeypatch: pytest.MonkeyPatch, *words: str, name: str = "onesided") -> int | None:
    """Run a command in this process; return its exit code."""
    started = {"onesided": "/anywhere/bin/onesided", "python -m pipeline": "pipeline/__main__.py"}
    monkeypatch.setattr(sys, "argv", [started[name], *words])
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    try:
        return main()
    except SystemExit as stop:
        return int(str(stop.code))


@pytest.fixture(scope="module")
def onesided(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command as the bootstrap writes it, for the Python of the tests."""
    script = tmp_path_factory.mktemp("bin") / "onesided"
    script.write_text(bootstrap.COMMAND.format(python=shlex.quote(sys.executable)))
    script.chmod(0o755)
    return script


def run(onesided: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [onesided, *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": str(WIDTH)},
        capture_output=True,
        text=True,
        check=False,
        timeout=LONGEST,
    )


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("words", [(), ("-h",), ("--help",)])
def test_the_commands_are_listed(
    name: str,
    words: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert call(monkeypatch, *words, name=name) == 0
    out = capsys.readouterr().out
    for command, (_, purpose) in COMMANDS.items():
        assert f"  {command:11} {purpose}\n" in out
    assert f"\n  {name} run -m method=ours,margin cutoff=0.5,0.7\n" in out


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("command", [command for command in COMMANDS if command != "run"])
def test_every_command_has_a_page(
    name: str, command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, command, "--help", name=name) == 0
    check_page(capsys.readouterr().out, f"{name} {command}")


def check_page(page: str, typed: str) -> None:
    lines = page.splitlines()
    assert lines[0].startswith(f"usage: {typed} ")
    assert max(map(len, lines)) <= WIDTH
    examples = lines[lines.index("examples:") :]
    assert sum(line.startswith(f"  {typed}") for line in examples) >= 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["rnu"], "onesided: error: there is no command 'rnu'; did you mean 'run'?"),
        (["--run"], "onesided: error: there is no command '--run'; did you mean 'run'?"),
        (["data"], "onesided data: error: a command is needed; known: check, describe, "),
        (["data", "fetsh"], "there is no command 'fetsh'; did you mean 'fetch'?"),
        (["sync", "outputs"], "outputs needs a value: outputs=…"),
        (["status", "method=our"], "onesided status: method=our: there is no such method; did"),
    ],
)
def test_what_is_misspelt_gets_the_near_miss(
    words: list[str],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert call(monkeypatch, *words) == 2
    assert said in capsys.readouterr().err


def test_a_sweep_by_the_short_command(onesided: Path, tmp_path: Path) -> None:
    """Two workers of joblib compute a cell each, as with ``python -m pipeline.run``."""
    small = ("dataset=blood", "splits=2", "alpha=[0.5]", "tracking=none", "n_jobs=2", "part=1")
    done = run(onesided, tmp_path, "run", "-m", "method=greedy,ours", *small)
    assert done.returncode == 0, done.stderr
    (file,) = tmp_path.glob("outputs/sweeps/*/summary.csv")
    assert pd.read_csv(file)["state"].tolist() == ["computed"] * 2
    refused = run(onesided, tmp_path, "run", "-m", "method=our")
    assert refused.returncode == 2
    assert refused.stderr.startswith("onesided run: method=our: there is no such method; did")


def test_the_page_of_run_has_the_words_of_its_config(onesided: Path, tmp_path: Path) -> None:
    (tmp_path / "mine" / "method").mkdir(parents=True)
    (tmp_path / "mine" / "method" / "fading.yaml").write_text("name: fading\n")
    page = run(onesided, tmp_path, "run", "--help", "--config-dir", "mine").stdout.rstrip()
    check_page(page, "onesided run")
    words = " ".join(page.split())
    assert "alpha=grid grid (that of the protocol), a number, or a list" in words
    assert "data.mirror=null folder of raw files; null: $ONESIDED_DATA_MIRROR" in words
    assert "eps_greedy, erm, fading, greedy" in words
    assert "onesided run -m method=ours,margin cutoff=0.5,0.7" in words


def test_the_docs_list_the_commands() -> None:
    text = (ROOT / "docs" / "running.md").read_text()
    for name, (module, purpose) in COMMANDS.items():
        long = f"python -m {module.removesuffix('.__main__')}"
        assert f"| `onesided {name}` | `{long}` | {purpose} |" in text

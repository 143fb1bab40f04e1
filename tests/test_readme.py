"""The README must be true: its commands exist and its code runs."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest

from pipeline.data.__main__ import parse
from pipeline.sweeps.plan import plan
from pipeline.theory.__main__ import main as measure

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
DOCS = [README, *(file.read_text() for file in sorted((ROOT / "docs").glob("*.md")))]
BLOCKS = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)


def test_there_is_code_to_check() -> None:
    assert len(BLOCKS) == 6


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.split("\n")[0][:30])
def test_every_code_block_runs(block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fading.py").write_text(next(b for b in BLOCKS if "class Fading(Method)" in b))
    monkeypatch.syspath_prepend(tmp_path)
    script = tmp_path / "block.py"
    script.write_text(block)
    try:
        exec(compile(block, str(script), "exec"), {"__name__": "readme"})
    finally:
        sys.modules.pop("fading", None)


def commands() -> list[list[str]]:
    """Module and words of the commands that README and docs show, in lines or in a sentence."""
    shown = r"^python -m (.+?)\s*(?:#.*)?$|`(?:\.venv/bin/)?python -m ([^`]+)`"
    text = "\n".join(DOCS).replace("\\\n", " ")
    found = [shlex.split(a or b) for a, b in re.findall(shown, text, flags=re.MULTILINE)]
    known = {"pipeline.run", "pipeline.status", "pipeline.data", "pipeline.theory"}
    whole = [words for words in found if words[0] in known and words[1:] and "…" not in words]
    once = {tuple(words): words for words in whole if not {"--cfg", "--config-dir"} & {*words}}
    return list(once.values())


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_every_command_is_understood(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.theory.__main__.run", lambda *_: [])
    if words[0] == "pipeline.theory":
        assert measure(words[1:]) == 0
    elif words[0] == "pipeline.data":
        assert parse(words[1:])[0] == words[1]
    else:
        given = [word for word in words[1:] if word != "-m"]
        # One cell of an experiment is enough: tests/test_configs.py composes them all.
        one = ["dataset=blood", "cutoff=0.5", "method=ours"] if "experiment=" in str(words) else []
        assert plan([*given, *(word for word in one if word not in given)])


def test_every_make_command_exists() -> None:
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    named = set(re.findall(r"make ([a-z]+)", README))
    assert {"run", "test"} <= named <= set(targets)


def test_every_linked_file_exists() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", README)
    assert links
    for link in links:
        assert (ROOT / link).is_file(), link


def test_the_layout_names_real_places() -> None:
    layout = README.split("## Layout")[1]
    for name in re.findall(r"^\| `([\w/.]+)`", layout, flags=re.MULTILINE):
        assert (ROOT / name).exists(), name

"""The README must be true: its commands exist and its code runs."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
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

"""docs/data.md must be true."""

from __future__ import annotations

import re
from inspect import signature
from pathlib import Path

import pytest

from pipeline.data.__main__ import parse
from pipeline.data.own_table import load_frame

DOCS = (Path(__file__).parents[2] / "docs" / "data.md").read_text()


def test_the_code_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = re.findall(r"```python\n(.*?)```", DOCS, flags=re.DOTALL)
    exec(compile(block, "docs/data.md", "exec"), {"__name__": "docs"})
    assert "label 1: repaid = yes" in capsys.readouterr().out


def test_the_commands_exist() -> None:
    found = re.findall(r"^python -m pipeline.data (.*?)\s*(?:#.*)?$", DOCS, flags=re.MULTILINE)
    assert len(found) == 7
    for command in found:
        assert parse(command.split())[0] == command.split()[0]


def test_the_limits_are_those_of_the_code() -> None:
    limits = {key: one.default for key, one in signature(load_frame).parameters.items()}
    assert f"at most {limits['max_levels']} distinct values (`max_levels`)" in DOCS
    assert f"more than {limits['max_categories']} categories (`max_categories`)" in DOCS

"""What the comments beside the keys of a config say: help pages show them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

LINE = re.compile(
    r"(?P<nested> *)(?:- )?(?P<key>\w+):(?: (?P<value>[^#]*?))?(?: +# (?P<about>.*))?"
)


class Setting(NamedTuple):
    """A line of a config: a key with its value, and the comment beside it."""

    section: str
    key: str
    value: str
    about: str

    @property
    def written(self) -> str:
        """The setting as a command line has it."""
        return f"{f'{self.section}.' if self.section else ''}{self.key}={self.value}"


def read_settings(file: Path) -> Iterator[Setting]:
    """Yield the settings of a config that have a value on their line, by section."""
    section = ""
    for match in map(LINE.fullmatch, file.read_text(encoding="utf-8").splitlines()):
        if match is None:
            continue
        nested, key, value, about = match.group("nested", "key", "value", "about")
        if not nested:
            section = "" if value else key
        if value:
            yield Setting(section, key, value, about or "")

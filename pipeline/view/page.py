"""A page of words, tables and pictures: written as Markdown, kept as JSON for other pages.

Texts may have `code`, **bold** and *italics* in them; the report shows the same pages as HTML.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, get_args

from pipeline.view.names import NONE

if TYPE_CHECKING:
    import pandas as pd

NOT_A_NUMBER = ("nan", "nan%")


class Heading(NamedTuple):
    """The title of what follows."""

    text: str

    def markdown(self) -> str:
        """Return the block as Markdown."""
        return f"## {self.text}"


class Text(NamedTuple):
    """A paragraph."""

    text: str

    def markdown(self) -> str:
        """Return the block as Markdown."""
        return self.text


class Items(NamedTuple):
    """A list."""

    items: Sequence[str]

    def markdown(self) -> str:
        """Return the block as Markdown."""
        return "\n".join(f"- {item}" for item in self.items)


class TextTable(NamedTuple):
    """A table of texts.

    Attributes:
        heads: of the columns.
        rows: a text for each column.
        words: heads of the columns that hold words; the others hold figures. None: the first.
    """

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    words: Sequence[str] | None = None

    @classmethod
    def of(
        cls, columns: Mapping[str, str], frame: pd.DataFrame, words: Sequence[str] | None = None
    ) -> TextTable:
        """Return the table of a frame's rows, a dash for what is not a number.

        Args:
            columns: the pattern of its texts by each head, such as ``{loss:.2f}``.
            frame: has the columns that the patterns name.
            words: heads of the columns that hold words.
        """
        rows_of = frame.to_dict("records")
        texts = ([text.format_map(row) for text in columns.values()] for row in rows_of)
        rows = [[NONE if text in NOT_A_NUMBER else text for text in row] for row in texts]
        return cls(list(columns), rows, words)

    def markdown(self) -> str:
        """Return the block as Markdown."""
        words = self.heads[:1] if self.words is None else self.words
        rule = ["---" if head in words else "---:" for head in self.heads]
        return "\n".join(f"| {' | '.join(cells)} |" for cells in (self.heads, rule, *self.rows))


class Picture(NamedTuple):
    """A picture in a file beside the page."""

    alt: str
    file: str

    def markdown(self) -> str:
        """Return the block as Markdown."""
        return f"![{self.alt}]({self.file})"


class Commands(NamedTuple):
    """Lines for a shell."""

    lines: Sequence[str]

    def markdown(self) -> str:
        """Return the block as Markdown."""
        return "\n".join(["```sh", *self.lines, "```"])


Block = Heading | Text | Items | TextTable | Picture | Commands
KINDS = {kind.__name__: kind for kind in get_args(Block)}


class Page(NamedTuple):
    """A title and what follows it."""

    title: str
    blocks: Sequence[Block]

    def markdown(self) -> str:
        """Return the page as Markdown."""
        return f"# {self.title}\n\n{markdown(self.blocks)}"

    def json(self) -> str:
        """Return the page as JSON, as :func:`read_page` reads it."""
        blocks = [{"kind": type(block).__name__, **block._asdict()} for block in self.blocks]
        whole = {"title": self.title, "blocks": blocks}
        return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def markdown(blocks: Iterable[Block]) -> str:
    """Return blocks as Markdown."""
    return "\n\n".join(block.markdown() for block in blocks) + "\n"


def read_page(path: Path) -> Page:
    """Return the page that a JSON file holds; refuse anything else with a ValueError."""
    try:
        whole = json.loads(path.read_text(encoding="utf-8"))
        blocks = [KINDS[block.pop("kind")](**block) for block in whole["blocks"]]
        return Page(whole["title"], blocks)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is not a page: {type(error).__name__} {error}") from error

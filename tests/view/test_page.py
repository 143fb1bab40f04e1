"""A page as Markdown and as JSON."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.view.page import (
    Commands,
    Heading,
    Items,
    Page,
    Picture,
    Text,
    TextTable,
    markdown,
    read_page,
)

PAGE = Page(
    "Losses & gains",
    [
        Text("See *this*, **that** and `R_t < 2`; ‖β*‖ and β* are stars."),
        Heading("Tables"),
        Items(["one", "two"]),
        TextTable(["link", "loss", "theory"], [["linear", "0.3", "none"]], ["link", "theory"]),
        Picture("a curve", "curve.png"),
        Commands(["make run", "make test"]),
    ],
)
MARKDOWN = """# Losses & gains

See *this*, **that** and `R_t < 2`; ‖β*‖ and β* are stars.

## Tables

- one
- two

| link | loss | theory |
| --- | ---: | --- |
| linear | 0.3 | none |

![a curve](curve.png)

```sh
make run
make test
```
"""


def test_a_page_as_markdown() -> None:
    assert PAGE.markdown() == MARKDOWN


def test_only_the_first_column_has_words_unless_others_are_named() -> None:
    assert markdown([TextTable(["a", "b", "a"], [])]) == "| a | b | a |\n| --- | ---: | --- |\n"


def test_what_was_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "page.json"
    path.write_text(PAGE.json(), encoding="utf-8")
    assert read_page(path).markdown() == MARKDOWN
    assert read_page(path).json() == PAGE.json()


@pytest.mark.parametrize("text", ["{", '{"title": "t", "blocks": [{"kind": "Nonsense"}]}'])
def test_what_is_no_page_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "page.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"page\.json is not a page"):
        read_page(path)

"""Write the table of datasets and licences in docs/data.md from conf/dataset.

``python scripts/licences.py`` rewrites the file; the test of this script fails where it is stale.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from pipeline.data.spec import dataset_names, read_spec

DOCS = Path(__file__).parents[1] / "docs" / "data.md"
BLOCK = re.compile(r"(<!-- licences: .*? -->\n).*?(<!-- /licences -->)", flags=re.DOTALL)


def table() -> Iterator[str]:
    """Yield the lines of the table."""
    yield "| name | dataset | rows × columns, inferred | stated | label 1 | licence | cite |"
    yield "|---|---|---|---|---|---|---|"
    for name in dataset_names():
        spec = read_spec(name)
        shapes, shares = [], []
        for protocol in ("inferred", "stated"):
            expect = spec.recipe(protocol).expect
            shapes.append(f"{expect.rows:,} × {expect.columns}")
            shares.append(f"{expect.positives / expect.rows:.0%}")
        share = shares[0] if shares[0] == shares[1] else " / ".join(shares)
        title = f"[{spec.title}]({spec.homepage})"
        cells = (f"`{name}`", title, *shapes, share, spec.licence, spec.citation)
        yield f"| {' | '.join(cells)} |"


def updated(text: str) -> str:
    """Return the document with a fresh table."""
    fresh = "\n".join(table()) + "\n"
    return BLOCK.sub(lambda found: found[1] + fresh + found[2], text)


if __name__ == "__main__":
    DOCS.write_text(updated(DOCS.read_text()))

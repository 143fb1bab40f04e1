from __future__ import annotations

import licences


def test_the_documented_licences_are_those_of_the_configs() -> None:
    text = licences.DOCS.read_text()
    assert licences.updated(text) == text, "run `python scripts/licences.py`"
    assert len(list(licences.table())) == 12

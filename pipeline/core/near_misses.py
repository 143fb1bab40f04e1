"""Near misses: what the user probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def closest(name: object, known: Iterable[str]) -> str:
    """Return ``'; did you mean …?'`` or a list of the known names."""
    names = sorted(known)
    match = difflib.get_close_matches(str(name), names, n=1)
    return f"; did you mean {match[0]!r}?" if match else f"; known: {', '.join(names)}"

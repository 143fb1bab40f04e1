"""Accepted rows whose labels have not come yet, kept by the round that accepted them.

Most labels come one by one, or for a whole round at once: neither has to look at single rows.
"""

from __future__ import annotations

from bisect import bisect_right

import numpy as np
from numpy.typing import NDArray

from pipeline.core.kernels.rows import FloatArray

Ids = NDArray[np.int64]


class Waiting:
    """Rows by their ids, which grow from round to round."""

    def __init__(self) -> None:
        # by the id of a round's first row: its rows, and which of them still wait
        self._rounds: dict[int, tuple[FloatArray, NDArray[np.bool_]]] = {}
        self._firsts: list[int] = []  # of these rounds, and of some that have ended

    @property
    def ids(self) -> Ids:
        """Ids of the rows that wait, in order."""
        found = [first + np.flatnonzero(waits) for first, (_, waits) in self._rounds.items()]
        return np.concatenate([np.empty(0, dtype=np.int64), *found])

    def add(self, first: int, rows: FloatArray) -> None:
        """Let rows wait under the ids from ``first`` on."""
        if len(rows) == 0:
            return
        if len(self._firsts) > 2 * len(self._rounds) + 100:
            self._firsts = list(self._rounds)
        self._firsts.append(first)
        self._rounds[first] = rows, np.ones(len(rows), dtype=np.bool_)

    def rows(self, ids: Ids) -> FloatArray:
        """Return the rows of ids; KeyError for one that does not wait."""
        whole = self._round_of(ids)
        if whole is not None:
            return whole
        found = [self._find(i) for i in ids.tolist()]
        return np.array([self._rounds[first][0][i - first] for i, first in found])

    def drop(self, ids: Ids) -> None:
        """Forget rows that wait."""
        if self._round_of(ids) is not None:
            del self._rounds[int(ids[0])]
            return
        for i, first in [self._find(i) for i in ids.tolist()]:
            waits = self._rounds[first][1]
            waits[i - first] = False
            if not waits.any():
                del self._rounds[first]

    def _round_of(self, ids: Ids) -> FloatArray | None:
        """Return the rows of a round if ids are those of all of it, and all of it waits."""
        found = self._rounds.get(int(ids[0])) if len(ids) else None
        if found is None or len(found[0]) != len(ids):
            return None
        in_order = len(ids) == 1 or bool((ids[1:] - ids[:-1] == 1).all() and found[1].all())
        return found[0] if in_order else None

    def _find(self, i: int) -> tuple[int, int]:
        """Return an id with that of the first row of its round."""
        first = self._firsts[max(bisect_right(self._firsts, i) - 1, 0)] if self._firsts else i
        _, waits = self._rounds.get(first, (None, ()))
        if not (0 <= i - first < len(waits) and waits[i - first]):
            raise KeyError(i)
        return i, first

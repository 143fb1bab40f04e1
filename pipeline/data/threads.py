"""Work on all cores, where columns are long enough to gain from it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
MANY = 1 << 17  # rows from which on starting threads and kernels takes less time than it saves


def many(rows: int) -> bool:
    """Return whether columns are long: then threads and kernels are used, to the same result."""
    return rows >= MANY


def each(function: Callable[[Item], Result], items: Iterable[Item], rows: int) -> list[Result]:
    """Return what a function makes of each item, in order; the first error in order is raised.

    Args:
        function: may run on several threads at once.
        items: one column, or one block of rows, each.
        rows: of the table they belong to.
    """
    if not many(rows):
        return [function(item) for item in items]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(function, items))

"""Large arrays in small pages.

Numpy asks for huge pages. Where these are scarce, or a virtual machine gives free memory back to
its host, each costs milliseconds at its first use: for half a gigabyte 2 s were seen, where small
pages took 0.4 s.
"""

from __future__ import annotations

import mmap

import numpy as np
from numpy.typing import NDArray

LARGE = 1 << 25
PRIVATE = getattr(mmap, "MAP_PRIVATE", 0) | getattr(mmap, "MAP_ANONYMOUS", 0)  # 0: not on Windows


def zeros(rows: int, columns: int) -> NDArray[np.float64]:
    """Return a matrix of zeros in C order."""
    size = 8 * rows * columns
    if size < LARGE or not PRIVATE:
        return np.zeros((rows, columns))
    pages = mmap.mmap(-1, size, flags=PRIVATE)
    return np.frombuffer(pages, dtype=np.float64).reshape(rows, columns)

"""Large plain CSV files, fast: numbers and texts, parsed by a compiled kernel.

The file is cut into blocks at line ends, and the blocks are parsed on all cores straight into the
columns, so that beside these only a few blocks are in memory. A number of up to 15 digits is
m/10^k with m < 2⁵³ and k ≤ 22, both exact, so one division rounds it correctly; any other cell of
a number column goes to pyarrow. Where a file is not plain (a quote or a line end inside a text, a
row of another width, a text among numbers) the answer is None, and the general reader takes over.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pipeline.core.jit import exact, inlined
from pipeline.data.memory import zeros
from pipeline.data.threads import each

Bytes = NDArray[np.uint8]
NEWLINE, RETURN, QUOTE, MINUS, DOT, ZERO = 10, 13, 34, 45, 46, 48
BLOCK = 1 << 22
POWERS = 10.0 ** np.arange(23)
MOST, MOST_DIGITS = 1 << 53, 18
NOT_PLAIN = -1


@inlined
def short_number(buf, i, sep, powers):
    """Return where the digits that start at i end, their number, and whether it is a whole cell."""
    u, one = np.uintp(i), np.uintp(1)  # an index without a sign needs no test for it
    negative = buf[u] == MINUS
    if negative:
        u += one
    m, digits, decimals = np.int64(0), 0, 0
    digit = np.int64(buf[u]) - ZERO
    while 0 <= digit <= 9 and digits < MOST_DIGITS:
        m = 10 * m + digit
        digits += 1
        u += one
        digit = np.int64(buf[u]) - ZERO
    if buf[u] == DOT:
        decimals = digits
        u += one
        digit = np.int64(buf[u]) - ZERO
        while 0 <= digit <= 9 and digits < MOST_DIGITS:
            m = 10 * m + digit
            digits += 1
            u += one
            digit = np.int64(buf[u]) - ZERO
        decimals = digits - decimals
    ended = buf[u] == sep or buf[u] == NEWLINE or buf[u] == RETURN
    value = m / powers[decimals]
    return np.int64(u), -value if negative else value, ended and digits > 0 and m < MOST


@inlined
def copy_cell(buf, i, sep, cells, end):
    """Copy the cell that starts at i behind ``cells[:end]``, without quotes around it.

    Return where it ends in both, and whether it is plain: no quote or line end inside.
    """
    quoted = buf[i] == QUOTE
    if quoted:
        i += 1
    while buf[i] != NEWLINE and buf[i] != QUOTE:
        if not quoted and (buf[i] == sep or buf[i] == RETURN):
            break
        cells[end] = buf[i]
        end += 1
        i += 1
    plain = quoted == (buf[i] == QUOTE)
    return i + quoted, end, plain


@exact
def parse(buf, sep, places, powers, numbers, first, cells, offsets, counts):
    """Parse the lines of ``buf``, which ends with a line end; return how many, −1 if not plain.

    ``places[c]`` is the row of ``numbers`` for a number column, −1 − k for the text column k.
    ``cells[k]`` takes the bytes of its texts one after another, ``offsets[k]`` where each of them
    ends, ``counts[k]`` how many there are. The last k takes the cells of number columns that are
    no short numbers; its ``offsets`` are followed by their column and row.
    """
    n, width, last = buf.shape[0], places.shape[0], cells.shape[0] - 1
    i = row = 0
    while i < n:
        for c in range(width):
            start, place = i, places[c]
            k = -1 - place
            if place >= 0:
                i, value, short = short_number(buf, i, sep, powers)
                numbers[place, first + row] = value
                k = -1 if short else last
            if k >= 0:
                at = counts[k]
                end = offsets[k, at - 1] if at > 0 else 0
                i, end, plain = copy_cell(buf, start, sep, cells[k], end)
                if not plain:
                    return NOT_PLAIN
                offsets[k, at] = end
                counts[k] = at + 1
                if k == last:
                    offsets[last + 1, at] = place
                    offsets[last + 2, at] = first + row
            if buf[i] == RETURN and c == width - 1:
                i += 1
            if i >= n or buf[i] != (NEWLINE if c == width - 1 else sep):
                return NOT_PLAIN
            i += 1
        row += 1
    return row


class Scratch(threading.local):
    """Arrays that a thread uses again for its next block: fresh ones cost as much as parsing."""

    def __init__(self) -> None:
        self.kept: dict[str, NDArray[Any]] = {}

    def array(self, name: str, shape: tuple[int, int], kind: type[np.generic]) -> NDArray[Any]:
        """Return an array of that shape, its values arbitrary."""
        size = shape[0] * shape[1]
        if name not in self.kept or len(self.kept[name]) < size:
            self.kept[name] = np.empty(size + size // 8, dtype=kind)
        return self.kept[name][:size].reshape(shape)


@dataclass(frozen=True)
class Plain:
    """A file to parse.

    Attributes:
        path: the file.
        kinds: for each column ``int``, ``float`` or ``text``.
        separator: one character.
        missing: texts that stand for a missing value.
    """

    path: Path
    kinds: Mapping[str, str]
    separator: str
    missing: Sequence[str]

    def read(self) -> pd.DataFrame | None:
        """Return the table, None if the file is not plain."""
        texts = [name for name, kind in self.kinds.items() if kind == "text"]
        others = [name for name in self.kinds if name not in texts]
        place = {name: k for k, name in enumerate(others)}
        place |= {name: -1 - k for k, name in enumerate(texts)}
        places = np.array([place[name] for name in self.kinds], dtype=np.int64)
        spans, scratch = self._spans(), Scratch()
        if not spans:
            return None
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            counts = list(pool.map(lambda span: _count(self._lines(span, scratch)), spans))
            numbers = zeros(len(others), sum(counts))
            blocks = zip(spans, counts, np.cumsum([0, *counts]).tolist(), strict=False)
            jobs = [
                pool.submit(self._parse, *block, places, numbers, len(texts), scratch)
                for block in blocks
            ]
            found = [job.result() for job in jobs]
        if any(parts is None for parts in found):
            return None
        words = {name: [parts[k] for parts in found if parts] for k, name in enumerate(texts)}
        return self._frame(numbers, place, words)

    def _spans(self) -> list[tuple[int, int]] | None:
        """Return where blocks of whole lines start and end; None if a line is too long for them."""
        with self.path.open("rb") as file:
            file.readline()
            edges = [file.tell()]
            size = self.path.stat().st_size
            while edges[-1] < size:
                file.seek(edges[-1] + BLOCK)
                line = file.readline(BLOCK)
                if len(line) == BLOCK:
                    return None
                edges.append(min(file.tell(), size))
        return list(pairwise(edges))

    def _lines(self, span: tuple[int, int], scratch: Scratch) -> Bytes:
        """Return a block; it ends with a line end."""
        start, end = span
        content: Bytes = scratch.array("content", (1, end - start + 1), np.uint8)[0]
        with self.path.open("rb", buffering=0) as file:
            file.seek(start)
            count = file.readinto(content[:-1].data)
        if content[count - 1] != NEWLINE:
            content[count] = NEWLINE
            count += 1
        return content[:count]

    def _parse(
        self,
        span: tuple[int, int],
        rows: int,
        first: int,
        places: NDArray[np.int64],
        numbers: NDArray[np.float64],
        n_texts: int,
        scratch: Scratch,
    ) -> list[Any] | None:
        """Parse a block into ``numbers``; return its text columns, dictionary-encoded."""
        buf = self._lines(span, scratch)
        cells = scratch.array("cells", (n_texts + 1, len(buf)), np.uint8)
        offsets = scratch.array("offsets", (n_texts + 3, rows * len(places)), np.int32)
        counts = np.zeros(n_texts + 1, dtype=np.int64)
        arguments = (POWERS, numbers, first, cells, offsets, counts)
        if parse(buf, ord(self.separator), places, *arguments) != rows:
            return None
        hard = int(counts[-1])
        if hard and not self._hard(_strings(cells[-1], offsets[n_texts], hard), offsets, numbers):
            return None
        return [_strings(cells[k], offsets[k], rows).dictionary_encode() for k in range(n_texts)]

    def _hard(self, cells: Any, offsets: NDArray[np.int32], numbers: NDArray[np.float64]) -> bool:
        """Write the numbers that the kernel left to pyarrow; False if one is none."""
        import pyarrow as pa
        import pyarrow.compute as pc

        missing = pc.is_in(cells, value_set=pa.array(list(self.missing), pa.string()))
        given = pc.if_else(missing, pa.scalar(None, pa.string()), cells)
        try:
            values = pc.utf8_trim_whitespace(given).cast(pa.float64())
        except pa.ArrowInvalid:
            return False
        place, row = offsets[-2, : len(cells)], offsets[-1, : len(cells)]
        numbers[place, row] = values.to_numpy(zero_copy_only=False)
        return True

    def _frame(
        self,
        numbers: NDArray[np.float64],
        place: Mapping[str, int],
        words: Mapping[str, list[Any]],
    ) -> pd.DataFrame | None:
        import pyarrow as pa

        def column(name: str) -> Any:
            if self.kinds[name] == "text":
                parts = pa.chunked_array(words[name]).unify_dictionaries().combine_chunks()
                return self._categories(parts)
            values = numbers[place[name]]
            whole = self.kinds[name] == "int" and np.array_equal(values, np.rint(values))
            return values.astype(np.int64) if whole else values

        try:
            columns = each(column, self.kinds, numbers.shape[1])
        except UnicodeDecodeError:
            return None
        return pd.DataFrame(dict(zip(self.kinds, columns, strict=True)), copy=False)

    def _categories(self, column: Any) -> pd.Categorical:
        column = column.chunk(0) if hasattr(column, "chunk") else column
        texts = column.dictionary.to_pylist()
        kept = [text for text in texts if text not in self.missing]
        code = {text: k for k, text in enumerate(kept)}
        codes = np.array([code.get(text, -1) for text in texts], dtype=np.int64)
        small = np.min_scalar_type(-max(len(kept), 1))
        return pd.Categorical.from_codes(codes.astype(small)[column.indices.to_numpy()], kept)


def _count(lines: Bytes) -> int:
    return int(np.count_nonzero(lines == NEWLINE))


def _strings(data: Bytes, ends: NDArray[np.int32], count: int) -> Any:
    """Return texts as an arrow array, without a copy of their bytes."""
    import pyarrow as pa

    offsets = np.concatenate([np.zeros(1, dtype=np.int32), ends[:count]])
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.string(), count, buffers)

"""From a table to a matrix: every step of the encoding is declared, see conf/dataset.

A step is ``{kind: bucket, of: [age], edges: [0, 30, 100]}``: the kind, the raw columns it is for,
and the kind's options. The columns of X come in the order of the steps; a raw column may be used
by several steps, and must be named by at least one, if only by ``{kind: drop, of: [...]}``.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from pipeline.core.near_misses import closest
from pipeline.data.encode import categories, kinds
from pipeline.data.encode.kinds import Feature, FloatArray, Kind
from pipeline.data.errors import DataError

DROP = "drop"
KINDS: dict[str, Callable[..., Feature]] = {
    "numeric": kinds.numeric,
    "centred": kinds.centred,
    "standardised": kinds.standardised,
    "one_hot": categories.one_hot,
    "ordinal": categories.ordinal,
    "mapped": categories.mapped,
    "bucket": kinds.bucket,
    "cumulative_bucket": partial(kinds.bucket, cumulative=True),
}
Step = tuple[str, Kind | None]  # a raw column and what becomes of it; None drops it


def declared_steps(declared: Sequence[Mapping[str, Any]]) -> Iterator[Step]:
    """Yield what a config declares for each column; an unknown kind or option is an error."""
    for step in declared:
        options = dict(step)
        name, of = options.pop("kind", None), options.pop("of", None)
        if not of or isinstance(of, str):
            raise DataError(f"an encoding step needs `of`, a list of columns: {dict(step)}")
        kind = None if name == DROP and not options else _declared_kind(name, options)
        yield from ((column, kind) for column in of)


def _declared_kind(name: Any, options: Mapping[str, Any]) -> Kind:
    if name not in KINDS:
        raise DataError(f"unknown kind {name!r}{closest(name, [*KINDS, DROP])}")
    known = [*inspect.signature(KINDS[name]).parameters][2:]
    for option in options:
        if option not in known:
            raise DataError(f"kind {name} has no option {option!r}{closest(option, known)}")
    return partial(KINDS[name], **options)


def encode_frame(frame: pd.DataFrame, steps: Sequence[Step]) -> tuple[FloatArray, tuple[str, ...]]:
    """Return X, rows × columns, finite float64 in C order, and the names of its columns.

    Categories, edges, means and deviations are those of the frame, which is without its label.
    """
    _check_columns(frame, {column for column, _ in steps})
    features = [kind(name, frame[name]) for name, kind in steps if kind is not None]
    columns = tuple(name for feature in features for name in feature.names)
    repeated = [name for name, count in Counter(columns).items() if count > 1]
    if repeated:
        raise DataError(f"two steps make a column {repeated[0]!r}")
    X = np.zeros((len(frame), len(columns)))
    ends = np.cumsum([len(feature.names) for feature in features], dtype=int)
    for feature, part in zip(features, np.hsplit(X, ends)[:-1], strict=True):
        feature.write(part)
    return X, columns


def _check_columns(frame: pd.DataFrame, named: set[str]) -> None:
    for column in sorted(named - set(frame.columns)):
        raise DataError(f"the encoding names a column {column!r} that is not in the table")
    for column in sorted(set(frame.columns) - named):
        raise DataError(f"no step of the encoding names column {column!r}; drop it if unused")

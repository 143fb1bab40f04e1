"""From a table to a matrix: every step of the encoding is declared, see conf/dataset.

A step is ``{kind: bucket, of: [age], edges: [0, 30, 100]}``: the kind, the raw columns it is for,
and the kind's options. The columns of X come in the order of the steps; a raw column may be used
by several steps, and must be named by at least one, if only by ``{kind: drop, of: [...]}``.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pipeline.core.names import closest
from pipeline.data.encode.categories import Mapped, OneHot, Ordinal
from pipeline.data.encode.kinds import (
    Bucket,
    Centred,
    CumulativeBucket,
    Feature,
    Kind,
    Numeric,
    Standardised,
)
from pipeline.data.errors import DataError

FloatArray = NDArray[np.float64]
DROP = "drop"
KINDS: dict[str, type[Kind]] = {
    kind.kind: kind
    for kind in (
        *(Numeric, Centred, Standardised, OneHot, Ordinal, Mapped, Bucket, CumulativeBucket),
    )
}


@dataclass(frozen=True)
class Step:
    """A kind and the raw columns it is for; None drops them."""

    kind: Kind | None
    of: tuple[str, ...]


def parse_step(declared: Mapping[str, Any]) -> Step:
    """Return a declared step; a kind or option that is not known is an error."""
    options = dict(declared)
    name, of = options.pop("kind", None), options.pop("of", None)
    if not of or isinstance(of, str):
        raise DataError(f"an encoding step needs `of`, a list of columns: {dict(declared)}")
    if name == DROP and not options:
        return Step(None, tuple(of))
    if name not in KINDS:
        raise DataError(f"unknown kind {name!r}{closest(name, [*KINDS, DROP])}")
    known = {field.name for field in dataclasses.fields(KINDS[name])}  # type: ignore[arg-type]
    for option in options:
        if option not in known:
            raise DataError(f"kind {name} has no option {option!r}{closest(option, known)}")
    return Step(KINDS[name](**options), tuple(of))


@dataclass(frozen=True)
class FittedEncoder:
    """Turns tables with the columns it was fitted to into matrices."""

    features: tuple[tuple[str, Feature], ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of X."""
        return tuple(name for _, feature in self.features for name in feature.names)

    def transform(self, frame: pd.DataFrame) -> FloatArray:
        """Return X, rows × columns, finite float64 in C order."""
        for column, _ in self.features:
            if column not in frame.columns:
                raise DataError(f"there is no column {column!r}")
        X = np.zeros((len(frame), len(self.columns)))
        start = 0
        for column, feature in self.features:
            end = start + len(feature.names)
            feature.write(frame[column], X[:, start:end])
            start = end
        return X


@dataclass(frozen=True)
class Encoder:
    """The steps of an encoding, not yet fitted."""

    steps: tuple[Step, ...]

    @classmethod
    def declared(cls, steps: Sequence[Mapping[str, Any]]) -> Encoder:
        """Return the encoder that a config declares."""
        return cls(tuple(map(parse_step, steps)))

    def fit(self, frame: pd.DataFrame) -> FittedEncoder:
        """Learn categories, edges, means and deviations from a table without its label."""
        self._check_columns(frame)
        fitted = ((column, kind.fit(column, frame[column])) for kind, column in self._pairs())
        encoder = FittedEncoder(tuple(fitted))
        repeated = [name for name, count in Counter(encoder.columns).items() if count > 1]
        if repeated:
            raise DataError(f"two steps make a column {repeated[0]!r}")
        return encoder

    def _pairs(self) -> Iterator[tuple[Kind, str]]:
        for step in self.steps:
            if step.kind is not None:
                yield from ((step.kind, column) for column in step.of)

    def _check_columns(self, frame: pd.DataFrame) -> None:
        named = {column for step in self.steps for column in step.of}
        for column in sorted(named - set(frame.columns)):
            raise DataError(f"the encoding names a column {column!r} that is not in the table")
        for column in sorted(set(frame.columns) - named):
            raise DataError(f"no step of the encoding names column {column!r}; drop it if unused")

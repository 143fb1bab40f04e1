"""A dataset by its name: load(name) finds the table, encodes it and checks the result."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pipeline.core.near_misses import closest
from pipeline.data.encode.categories import missing_name, text_codes
from pipeline.data.encode.encoder import declared_steps, encode_frame
from pipeline.data.encode.kinds import FloatArray, numbers, shown
from pipeline.data.errors import DataError, MismatchError
from pipeline.data.sources import Settings, find_table, table_from
from pipeline.data.spec import Condition, DatasetSpec, Label, Recipe, read_spec

MOST_SHOWN = 10


@dataclass(frozen=True)
class Group:
    """A protected attribute, kept aside for group-wise results.

    Attributes:
        column: its name.
        codes: the group number of each row, from 0, as the engine takes it.
        names: the name of each group number.
    """

    column: str
    codes: NDArray[np.int64]
    names: tuple[str, ...]


@dataclass(frozen=True)
class Dataset:
    """A checked (X, y) and where it comes from.

    Attributes:
        name: as in ``dataset=name``.
        protocol: ``inferred``, ``stated``, or the way an own table was read.
        X: rows × columns, finite float64, without a constant column.
        y: labels 0/1 (or real numbers, for synthetic data).
        columns: names of the columns of X.
        intercept: whether models shall add a constant column.
        group: the group of each row, if one was asked for.
        source: where the table was found: bundled, mirror, cache, openml, url, …
        licence: of the data.
        citation: whom to cite.
        notes: what was inferred from an own table, line by line.
        truth: the true mean μ(x'β*) of each row, where β* is known.
        beta: β*, where it is known.
        cutoff_value: the cutoff c on the scale of the mean, where it belongs to the dataset.
    """

    name: str
    protocol: str
    X: FloatArray
    y: FloatArray
    columns: tuple[str, ...]
    intercept: bool
    group: Group | None = None
    source: str = ""
    licence: str = ""
    citation: str = ""
    notes: tuple[str, ...] = ()
    truth: FloatArray | None = None
    beta: FloatArray | None = None
    cutoff_value: float | None = None


def load(
    name: str,
    protocol: str = "inferred",
    *,
    mirror: Path | str | None = None,
    offline: bool = False,
    cache: Path | str | None = None,
    group: str | None = None,
) -> Dataset:
    """Return a dataset of conf/dataset, checked against what its config expects.

    Args:
        name: adult, bank, compas, crime, german, blood, diabetes, eeg_eye, australian, churn.
        protocol: ``inferred`` or ``stated``.
        mirror: folder of raw files; else $ONESIDED_DATA_MIRROR.
        offline: never use the network.
        cache: folder for what was fetched; else $ONESIDED_CACHE or ~/.cache/onesided.
        group: raw column to keep aside.
    """
    settings = Settings.of(mirror=mirror, offline=offline, cache=cache)
    return load_spec(read_spec(name), protocol, settings, group)


def load_spec(
    spec: DatasetSpec,
    protocol: str,
    settings: Settings,
    group: str | None = None,
    place: str | None = None,
) -> Dataset:
    """Return a declared dataset; its table from that place, or from the first that has it."""
    recipe = spec.recipe(protocol)
    wanted = recipe.table, spec.tables[recipe.table], settings
    table, source = table_from(place, *wanted) if place else find_table(*wanted)
    return check(encode(spec, protocol, table, source, group or spec.group), recipe)


def encode(
    spec: DatasetSpec, protocol: str, table: pd.DataFrame, source: str, group: str | None = None
) -> Dataset:
    """Return the dataset a recipe makes of a table, not yet checked."""
    recipe = spec.recipe(protocol)
    rows = keep_rows(table, recipe.keep)
    y = labels_of(rows, recipe.label)
    predictors = rows.drop(columns=recipe.label.column)
    X, columns = encode_frame(predictors, [*declared_steps(recipe.encode)])
    return Dataset(
        name=spec.name,
        protocol=protocol,
        X=X,
        y=y,
        columns=columns,
        intercept=recipe.intercept,
        group=None if group is None else group_of(rows, group),
        source=source,
        licence=spec.licence,
        citation=spec.citation,
    )


def _column(frame: pd.DataFrame, name: str, purpose: str) -> pd.Series:
    if name not in frame.columns:
        hint = closest(name, map(str, frame.columns))
        raise DataError(f"there is no column {name!r} {purpose}{hint}")
    return frame[name]


def keep_rows(frame: pd.DataFrame, conditions: Sequence[Condition]) -> pd.DataFrame:
    """Return the rows that meet every condition, in their order."""
    kept = np.ones(len(frame), dtype=bool)
    for condition in conditions:
        values = _column(frame, condition.column, "to select rows by")
        kept &= values.notna()
        if condition.one_of is not None:
            kept &= values.isin(condition.one_of)
        if condition.none_of is not None:
            kept &= ~values.isin(condition.none_of)
        if condition.between is not None:
            kept &= values.between(*condition.between)
    return frame[kept].reset_index(drop=True)


def labels_of(frame: pd.DataFrame, label: Label) -> FloatArray:
    """Return y, 0/1; a label that is missing, unknown, or the same everywhere is an error."""
    values = _column(frame, label.column, "of labels")
    refuse_missing(values, label.column)
    if label.above is not None:
        y = numbers(label.column, values) > label.above
    else:
        y = values.isin(label.positive or []).to_numpy()
        _refuse_unknown(values, values[~y], label)
    if y.all() or not y.any():
        raise DataError(
            f"target {label.column!r} has one class only: {len(y)} rows, {y.sum()} of label 1"
        )
    return y.astype(np.float64)


def refuse_missing(values: pd.Series, target: str) -> None:
    """Raise where rows have no label."""
    missing = int(values.isna().sum())
    if missing:
        found = f"is missing in {missing:,} of {len(values):,} rows"
        raise DataError(f"target {target!r} {found}; fill them in, or remove these rows")


def _refuse_unknown(values: pd.Series, others: pd.Series, label: Label) -> None:
    """Raise where values that are not positive are not among the negative either."""
    if label.negative is None:
        return
    unknown = others[~others.isin(label.negative)].unique()
    if len(unknown):
        known = ", ".join(map(shown, [*(label.positive or []), *label.negative]))
        one = f"unknown value {shown(unknown[0])!r}"
        found = one if may_be_shown(values) else f"unknown values: {len(unknown):,}"
        raise DataError(f"target {label.column!r}: {found}; known: {known}")


def may_be_shown(values: pd.Series) -> bool:
    """Return whether a message may list the values: few, and none that tells of a single row."""
    counts = values.value_counts()
    counts = counts[counts > 0]
    return len(counts) <= MOST_SHOWN and bool((counts > 1).all())


def group_of(rows: pd.DataFrame, column: str) -> Group:
    """Return the groups, sorted by name; rows without one are the last, "missing"."""
    places, texts = text_codes(_column(rows, column, "to group by"))
    distinct, ranks = np.unique(np.array(texts, dtype=object), return_inverse=True)
    names = distinct.tolist()
    if (places < 0).any():
        names.append(missing_name(names))
    return Group(column, np.append(ranks, len(ranks))[places], tuple(names))


def value_hash(X: FloatArray, y: FloatArray) -> str:
    """Return the sha256 of X and then y, as little-endian float64 in C order, −0 as 0."""
    digest = hashlib.sha256()
    for values in (X, y):
        digest.update(np.ascontiguousarray(values + 0.0, dtype="<f8").tobytes())
    return digest.hexdigest()


def check(dataset: Dataset, recipe: Recipe) -> Dataset:
    """Return the dataset; raise where it differs from what its config expects.

    Results are named after that config: a table that is loaded otherwise must not pass for it.
    """
    expect = recipe.expect
    what = f"dataset {dataset.name} ({dataset.protocol}, from {dataset.source})"
    rows, columns = dataset.X.shape
    for quantity, expected, found in (
        ("rows", expect.rows, rows),
        ("columns", expect.columns, columns),
        ("positives", expect.positives, int(dataset.y.sum())),
        ("hash of values", expect.sha256, value_hash(dataset.X, dataset.y)),
        ("intercept", recipe.intercept, dataset.intercept),
    ):
        if expected != found:
            raise MismatchError.of(f"{what}, {quantity}", expected, found)
    return dataset

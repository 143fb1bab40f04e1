"""Your own table: a frame, a CSV or parquet file, or any dataset on OpenML.

The kinds of its columns are inferred (see inference.py); ``Dataset.notes`` says what was inferred,
one line a column. Nothing that is learned from a column sees a label.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from pipeline.data.dataset import Dataset, Group, group_of
from pipeline.data.encode.encoder import encode_frame
from pipeline.data.errors import DataError, about
from pipeline.data.own_table.inference import Guess, guess
from pipeline.data.own_table.roles import Roles, Value, own_labels, some
from pipeline.data.own_table.table_file import MISSING, check_names, read_frame
from pipeline.data.sources import Settings
from pipeline.data.sources.openml import find_openml

OWN_TABLES = ("csv", "openml")  # ``dataset=csv``: no name of a table


def load_frame(
    frame: pd.DataFrame,
    target: str,
    positive: Value | Sequence[Value] | None = None,
    *,
    negative: Value | Sequence[Value] | None = None,
    above: float | None = None,
    group: str | None = None,
    drop: str | Sequence[str] | None = (),
    intercept: bool = True,
    max_levels: int = 10,
    max_categories: int = 50,
    name: str = "frame",
    source: str = "frame",
) -> Dataset:
    """Return a frame as a dataset.

    Args:
        frame: the table; it is not changed.
        target: the column of labels.
        positive: its value, or values, of label 1; not needed for 0/1, −1/1 and True/False.
        negative: its values of label 0, if any other shall be an error.
        above: instead of both, label 1 are the numbers above this one.
        group: a column kept aside as the group of each row; it is no feature.
        drop: column, or columns, to leave out.
        intercept: whether models shall add a constant column.
        max_levels: whole numbers with at most that many distinct values are one-hot.
        max_categories: at most that many columns for a text.
        name: of the dataset.
        source: file or place, for messages.
    """
    with about(source):
        roles = Roles.of(target, group, drop)
        names = [str(column) for column in frame.columns]
        check_names(names)
        frame = frame.set_axis(names, axis=1).set_axis(range(len(frame)), axis=0)
        roles.check(frame)
        y, label_note = own_labels(frame[roles.target], roles.target, positive, negative, above)
        kept_aside = None if roles.group is None else _group(frame, roles.group)
        aside = {roles.target, roles.group, *roles.drop}
        guesses = {
            column: guess(column, frame[column], max_levels, max_categories)
            for column in names
            if column not in aside
        }
        tidied = pd.DataFrame({column: one.values for column, one in guesses.items()}, copy=False)
        X, columns = encode_frame(tidied, [(column, one.kind) for column, one in guesses.items()])
        if not columns:
            raise DataError("no column is left to learn from")
    return Dataset(
        name=name,
        protocol="own",
        X=X,
        y=y,
        columns=columns,
        intercept=intercept,
        group=kept_aside,
        source=source,
        notes=_notes(label_note, kept_aside, guesses, columns),
    )


def load_file(
    path: Path | str,
    target: str,
    positive: Value | Sequence[Value] | None = None,
    *,
    separator: str | None = None,
    missing: Sequence[str] = MISSING,
    group: str | None = None,
    drop: str | Sequence[str] | None = (),
    name: str | None = None,
    **options: Any,
) -> Dataset:
    """Return a CSV or parquet file, gzipped or not, as a dataset.

    Args:
        path: the file.
        target: the column of labels.
        positive: its value of label 1.
        separator: of a CSV, a character or its name: comma, semicolon, tab, pipe, space; None for
            a tab in a .tsv file and a comma elsewhere.
        missing: texts of a CSV that stand for a missing value.
        group: a column kept aside as the group of each row.
        drop: column, or columns, to leave out; they are not even converted.
        name: of the dataset; None for that of the file.
        options: as of :func:`load_frame`.
    """
    options = {"source": str(path), "name": name or file_name(path), **options}
    with about(options["source"]):
        roles = Roles.of(target, group, drop)
    frame = read_frame(path, separator, missing, roles.drop)
    return load_frame(frame, roles.target, positive, group=roles.group, **options)


def file_name(path: Path | str) -> str:
    """Return a file's name as that of a dataset, after which folders are called."""
    name = re.sub(r"[^\w-]+", "_", Path(path).name.partition(".")[0]).strip("_") or "table"
    return f"{name}_table" if name in OWN_TABLES else name


def load_openml(
    data_id: int,
    target: str | None = None,
    positive: Value | Sequence[Value] | None = None,
    *,
    settings: Settings | None = None,
    **options: Any,
) -> Dataset:
    """Return any dataset of OpenML by its id; the target is the one named there, if none is given.

    Args:
        data_id: the number in its address on OpenML.
        target: the column of labels.
        positive: its value of label 1.
        settings: of the sources.
        options: as of :func:`load_frame`.
    """
    if not str(data_id).isdecimal():
        advice = "name the number in the dataset's address on OpenML, as in dataset.data_id=31"
        raise DataError(f"dataset.data_id={data_id} is not a number; {advice}")
    frame, known = find_openml(int(data_id), settings or Settings.of())
    target = target or known
    if target is None:
        hint = f"; columns: {', '.join(map(str, frame.columns))}"
        raise DataError(f"OpenML {data_id} names no target: set dataset.target{hint}")
    options = {"name": f"openml_{data_id}", "source": f"OpenML {data_id}", **options}
    return load_frame(frame, target, positive, **options)


def _group(frame: pd.DataFrame, column: str) -> Group:
    """Return the groups; a column that differs in nearly every row, as a name does, has none."""
    values = frame[column]
    distinct, rows = values.nunique(), int(values.notna().sum())
    if distinct > max(100, rows // 10) or distinct > max(2, rows // 2):
        found = f"too many distinct values for groups: {distinct:,} in {rows:,} rows"
        raise DataError(f"column {column!r} (dataset.group) has {found}")
    return group_of(frame, column)


def _notes(
    label: str, group: Group | None, guesses: dict[str, Guess], names: Sequence[str]
) -> tuple[str, ...]:
    width = min(28, max(map(len, guesses)))
    aside = [] if group is None else [f"group: {group.column} = {some(group.names)}; no feature"]
    lines = [f"{column:{width}}  {found.note}" for column, found in guesses.items()]
    return (label, *aside, *lines, f"{len(guesses)} columns make {len(names)} features")

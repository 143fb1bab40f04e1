"""Your own table: a frame, a CSV or parquet file, or any dataset on OpenML.

The kinds of its columns are inferred (see :mod:`pipeline.data.inference`); ``Dataset.notes`` says
what was inferred, one line a column. Nothing that is learned from a column sees a label.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pipeline.core.names import closest
from pipeline.data.dataset import Dataset, Group, group_of
from pipeline.data.encoder import Encoder
from pipeline.data.errors import DataError, UnavailableError
from pipeline.data.inference import Guess, Limits, guess, tidy
from pipeline.data.kinds import shown
from pipeline.data.selection import labels_of
from pipeline.data.sources import Settings
from pipeline.data.sources.openml_source import OpenMLSource
from pipeline.data.spec import Label
from pipeline.data.table_file import MISSING, FileFormat, check_names, read_frame
from pipeline.data.threads import each

Value = str | int | float | bool
FloatArray = NDArray[np.float64]
SHOWN = 8


def load_frame(
    frame: pd.DataFrame,
    target: str,
    positive: Value | Sequence[Value] | None = None,
    *,
    negative: Value | Sequence[Value] | None = None,
    above: float | None = None,
    group: str | None = None,
    drop: Sequence[str] = (),
    intercept: bool = True,
    max_levels: int = Limits.max_levels,
    max_categories: int = Limits.max_categories,
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
        drop: columns to leave out.
        intercept: whether models shall add a constant column.
        max_levels: whole numbers with at most that many distinct values are one-hot.
        max_categories: at most that many columns for a text.
        name: of the dataset.
        source: file or place, for messages.
    """
    try:
        check_names("the table", list(frame.columns))
        frame = frame.set_axis([str(column) for column in frame.columns], axis=1)
        _check_present(frame, target, group, drop)
        y, label_note = _labels(frame[target], target, positive, negative, above)
        kept_aside = None if group is None else group_of(_named(frame, group), group)
        columns = [name for name in frame.columns if name not in {target, group, *drop}]
        limits = Limits(max_levels, max_categories)
        series = [(column, frame[column]) for column in columns]
        found = each(lambda pair: guess(*pair, limits), series, len(frame))
        guesses = dict(zip(columns, found, strict=True))
        X, names = _encode(guesses)
    except DataError as error:
        raise DataError(f"{source}: {error}") from error
    return Dataset(
        name=name,
        protocol="own",
        X=X,
        y=y,
        columns=names,
        intercept=intercept,
        group=kept_aside,
        source=source,
        notes=_notes(label_note, kept_aside, guesses, names),
    )


def load_file(
    path: Path | str,
    target: str,
    positive: Value | Sequence[Value] | None = None,
    *,
    separator: str | None = None,
    missing: Sequence[str] = MISSING,
    drop: Sequence[str] = (),
    **options: Any,
) -> Dataset:
    """Return a CSV or parquet file, gzipped or not, as a dataset.

    Args:
        path: the file.
        target: the column of labels.
        positive: its value of label 1.
        separator: of a CSV; None for a tab in a .tsv file and a comma elsewhere.
        missing: texts of a CSV that stand for a missing value.
        drop: columns to leave out.
        options: as of :func:`load_frame`.
    """
    unread = [column for column in drop if column not in (target, options.get("group"))]
    frame = read_frame(path, FileFormat(separator, missing, unread))
    name = Path(path).name.partition(".")[0]
    return load_frame(frame, target, positive, name=name, source=str(path), **options)


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
    settings = settings or Settings.of()
    if settings.offline:
        raise UnavailableError(f"OpenML {data_id}: forbidden by data.offline=true")
    frame, known = OpenMLSource(settings).frame(int(data_id))
    target = target or known
    if target is None:
        hint = f"; columns: {', '.join(map(str, frame.columns))}"
        raise DataError(f"OpenML {data_id} names no target: set dataset.target{hint}")
    options |= {"name": f"openml_{data_id}", "source": f"OpenML {data_id}"}
    return load_frame(frame, target, positive, **options)


def _check_present(
    frame: pd.DataFrame, target: str, group: str | None, drop: Sequence[str]
) -> None:
    if not len(frame):
        raise DataError("there are no rows")
    wanted = [("target", target), ("group", group), *(("drop", column) for column in drop)]
    for role, column in wanted:
        if column is not None and column not in frame.columns:
            hint = closest(column, frame.columns)
            raise DataError(f"there is no column {column!r} (dataset.{role}){hint}")
    if group == target:
        raise DataError(f"column {target!r} cannot be both target and group")


def _named(frame: pd.DataFrame, group: str) -> pd.DataFrame:
    """Return the group column; where it has a number for nearly every row it is no group."""
    values = frame[[group]]
    if values[group].nunique() > max(100, len(frame) // 10):
        raise DataError(f"column {group!r} (dataset.group) has too many distinct values for groups")
    return values


def _labels(
    values: pd.Series,
    target: str,
    positive: Value | Sequence[Value] | None,
    negative: Value | Sequence[Value] | None,
    above: float | None,
) -> tuple[FloatArray, str]:
    """Return y and the line that says which label is which."""
    _check_target(values, target)
    if above is not None:
        y = labels_of(pd.DataFrame({target: tidy(target, values)[0]}), Label(target, above=above))
        return y, _label_note(target, f"above {shown(above)}", f"up to {shown(above)}", y)
    texts = _texts(values)
    ones = _positive(texts, target, positive)
    levels = [str(level) for level in texts.cat.categories]
    zeros = None
    if negative is not None:
        zeros = [_as_written(shown(value), levels) for value in _listed(negative)]
    y = labels_of(pd.DataFrame({target: texts}), Label(target, ones, zeros))
    others = [level for level in levels if level not in ones]
    return y, _label_note(target, ", ".join(ones), _some(others), y)


def _check_target(values: pd.Series, target: str) -> None:
    missing = int(values.isna().sum())
    if missing:
        advice = "fill them in, or remove these rows"
        raise DataError(
            f"target {target!r} is missing in {missing:,} of {len(values):,} rows; {advice}"
        )
    if pd.api.types.is_float_dtype(values) and np.isinf(values.to_numpy(np.float64)).any():
        raise DataError(f"target {target!r} holds infinite numbers; correct them")


def _texts(values: pd.Series) -> pd.Series:
    """Return labels as they are written on a command line: 1.0 as "1", True as "True"."""
    levels = values.astype("category")
    return levels.cat.rename_categories([shown(level) for level in levels.cat.categories])


def _listed(value: Value | Sequence[Value]) -> list[Value]:
    return [value] if isinstance(value, str | int | float) else list(value)


def _positive(texts: pd.Series, target: str, positive: Value | Sequence[Value] | None) -> list[str]:
    """Return the values of label 1, checked to be there."""
    levels = [str(level) for level in texts.cat.categories]
    if positive is None:
        if set(levels) <= {"0", "1"} or set(levels) <= {"-1", "1"}:
            return ["1"]
        if set(levels) <= {"True", "False"}:
            return ["True"]
        advice = "say which is label 1 with dataset.positive=… (or dataset.above=… for numbers)"
        raise DataError(f"target {target!r} has the values {_some(levels)}; {advice}")
    wanted = [shown(value) for value in _listed(positive)]
    wanted = [_as_written(value, levels) for value in wanted]
    for value in wanted:
        if value not in levels:
            hint = closest(value, levels) if len(levels) <= 50 else ""
            raise DataError(f"no row has {value!r} (dataset.positive) in target {target!r}{hint}")
    return wanted


def _as_written(value: str, levels: Sequence[str]) -> str:
    """Return a truth value as the column writes it: YAML reads a plain yes as true."""
    alike = {"true": ("true", "yes", "y", "on"), "false": ("false", "no", "n", "off")}
    if value in levels or value.lower() not in alike:
        return value
    found = [level for level in levels if level.lower() in alike[value.lower()]]
    return found[0] if len(found) == 1 else value


def _some(levels: Sequence[str]) -> str:
    more = f" and {len(levels) - SHOWN:,} more" if len(levels) > SHOWN else ""
    return f"{', '.join(levels[:SHOWN])}{more}"


def _label_note(target: str, ones: str, zeros: str, y: FloatArray) -> str:
    return f"label 1: {target} = {ones} ({y.mean():.1%} of {len(y):,} rows); label 0: {zeros}"


def _encode(guesses: dict[str, Guess]) -> tuple[FloatArray, tuple[str, ...]]:
    tidied = pd.DataFrame({column: found.values for column, found in guesses.items()}, copy=False)
    encoder = Encoder(tuple(found.step for found in guesses.values())).fit(tidied)
    if not encoder.columns:
        raise DataError("no column is left to learn from")
    return encoder.transform(tidied), encoder.columns


def _notes(
    label: str, group: Group | None, guesses: dict[str, Guess], names: Sequence[str]
) -> tuple[str, ...]:
    width = min(28, max(map(len, guesses)))
    aside = [] if group is None else [f"group: {group.column} = {_some(group.names)}; no feature"]
    lines = [f"{column:{width}}  {found.note}" for column, found in guesses.items()]
    return (label, *aside, *lines, f"{len(guesses)} columns make {len(names)} features")

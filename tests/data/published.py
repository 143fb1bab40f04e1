"""The files that the ten datasets were published in, written anew from the bundled tables.

Each comes out to the byte: it has the sha256 in conf/dataset, which is that of the published file.
So no copy of these files is needed to know that no value of a table was changed and that its format
is declared as it is. The files of COMPAS are those of a mirror, which hold no other columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType

import pandas as pd

from pipeline.data.sources import Settings, table_from
from pipeline.data.spec import dataset_names, read_spec

TABLES = [(name, key) for name in dataset_names() for key in read_spec(name).tables]
FIRST_FILE = 32561  # rows of Adult
AUSTRALIAN = {0.085: "0.08500", 8.46: "8.460", 9.46: "9.460", 9.96: "9.960"}
WHOLE = {"state", "phone number", "international plan", "voice mail plan", "target"}  # of Churn
DIABETES = {"bmi": "{:.1f}", "pedigree": "{:.3f}"}


def bundled_table(name: str, key: str) -> pd.DataFrame:
    return table_from("bundled", key, read_spec(name).tables[key], Settings.of())[0]


def published_files(name: str, key: str) -> Iterator[tuple[str, bytes]]:
    """Yield the path in a mirror and the content of each file of a table."""
    frame = bundled_table(name, key)
    paths = [file.path for file in read_spec(name).tables[key].files]
    for path, text in zip(paths, WRITERS[key](frame), strict=True):
        yield path, text.encode()


def write_mirror(folder: Path) -> None:
    """Write the files of all tables."""
    for name, key in TABLES:
        for path, content in published_files(name, key):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)


def _adult(frame: pd.DataFrame) -> list[str]:
    rows = _cells(frame, missing="?")
    test = [[*row[:-1], f"{row[-1]}."] for row in rows[FIRST_FILE:]]
    head = "|1x3 Cross validator\n"
    return [_lines(rows[:FIRST_FILE], ", ") + "\n", head + _lines(test, ", ") + "\n"]


def _australian(frame: pd.DataFrame) -> list[str]:
    rows = [[AUSTRALIAN.get(float(cell), cell) for cell in row] for row in _cells(frame)]
    return [_lines(rows, " ")]


def _bank(frame: pd.DataFrame, end: str) -> list[str]:
    head = [f'"{name}"' for name in frame.columns]
    return [_lines([head, *_cells(frame, quote='"')], ";", end)]


def _blood(frame: pd.DataFrame) -> list[str]:
    *names, last = frame.columns
    rows = [[f"{a} ", b, c, f"{d} ", e] for a, b, c, d, e in _cells(frame)]
    return [_lines([[*names, f'"{last}"'], *rows], ",", "\r\n")]


def _churn(frame: pd.DataFrame) -> list[str]:
    decimal = dict.fromkeys(set(frame.columns) - WHOLE, "{}")  # 128 as 128.0
    return [_lines([list(frame.columns), *_cells(frame, formats=decimal)], "\t")]


def _compas(frame: pd.DataFrame) -> list[str]:
    return [_lines([list(frame.columns), *_cells(frame)], ",")]


def _crime(frame: pd.DataFrame) -> list[str]:
    return [_lines(_cells(frame, missing="?"), ",", "\r\n")]


def _diabetes(frame: pd.DataFrame) -> list[str]:
    return [_lines(_cells(frame, formats=DIABETES), ",")]


def _eeg_eye(frame: pd.DataFrame) -> list[str]:
    names = [f"@ATTRIBUTE {name} NUMERIC" for name in frame.columns[:-1]]
    last = "@ATTRIBUTE eyeDetection {0,1}"
    head = [[line] for line in ("@RELATION EEG_DATA", "", *names, last, "", "@DATA")]
    return [_lines([*head, *_cells(frame)], ",", "\r\n").rstrip()]


def _german(frame: pd.DataFrame) -> list[str]:
    return [_lines(_cells(frame), " ")]


WRITERS: dict[str, Callable[[pd.DataFrame], list[str]]] = {
    "adult": _adult,
    "australian": _australian,
    "bank_additional": partial(_bank, end="\r\n"),
    "bank_full": partial(_bank, end="\n"),
    "blood": _blood,
    "churn": _churn,
    "compas_two_years": _compas,
    "compas_scores": _compas,
    "crime": _crime,
    "diabetes": _diabetes,
    "eeg_eye": _eeg_eye,
    "german": _german,
}


def _cells(
    frame: pd.DataFrame,
    missing: str = "",
    quote: str = "",
    formats: Mapping[str, str] = MappingProxyType({}),
) -> list[tuple[str, ...]]:
    """Return rows of texts."""
    columns = []
    for name in frame.columns:
        plain = "{:.15g}" if frame[name].dtype.kind == "f" else f"{quote}{{}}{quote}"
        written = formats.get(name, plain).format
        codes, values = pd.factorize(frame[name])  # -1, the last, where there is no value
        texts = [*map(written, values.tolist()), missing]
        columns.append([texts[code] for code in codes])
    return list(zip(*columns, strict=True))


def _lines(rows: Sequence[Sequence[str]], separator: str, end: str = "\n") -> str:
    return "".join(separator.join(row) + end for row in rows)

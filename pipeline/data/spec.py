"""What conf/dataset/*.yaml declares, as typed objects; a key that is not known is an error.

Not frozen: OmegaConf could not fill them. Nothing changes them after they were read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from pipeline.core.near_misses import closest
from pipeline.data.errors import DataError
from pipeline.files import conf_dir


@dataclass
class Url:
    """Where a raw file can be downloaded.

    Attributes:
        address: http or https.
        member: the way to the file through a zip, or a zip in a zip; empty for a plain file.
        sha256: of the file at the end of that way, where it is known.
    """

    address: str
    member: list[str] = field(default_factory=list)
    sha256: str | None = None


@dataclass
class RawFile:
    """A file of a table: its path in a mirror, the sha256 it has there, and its address."""

    path: str
    sha256: str | None = None
    url: Url | None = None


@dataclass
class Format:
    """How raw files are written.

    Attributes:
        kind: ``csv``, or ``arff`` for csv below a header that ends with @DATA.
        separator: one character, or ``space`` for runs of white space.
        header: whether the first line names the columns; they are then found by name and others
            are left behind, else they come in the declared order.
        missing: texts that stand for a missing value.
        comment: lines that start so are left out.
        strip_end: for a column, characters to take off the end of its values.
        repeated: ``error``, or ``first`` to take the first of columns with the same name.
    """

    kind: str = "csv"
    separator: str = ","
    header: bool = False
    missing: list[str] = field(default_factory=lambda: [""])
    comment: str | None = None
    strip_end: dict[str, str] = field(default_factory=dict)
    repeated: str = "error"


@dataclass
class OpenML:
    """A table on OpenML: its id, and for a column what its values are called here."""

    data_id: int
    values: dict[str, dict[Any, Any]] = field(default_factory=dict)


@dataclass
class TableExpect:
    """What a table must hold: the rows, and :func:`pipeline.data.sources.table.table_hash`."""

    rows: int
    sha256: str


@dataclass
class Table:
    """A raw table: columns with ``number`` or ``text``, and where it comes from.

    ``raw`` names its file in data/raw, where that is not called after the table.
    """

    columns: dict[str, str]
    expect: TableExpect
    raw: str | None = None
    bundled: bool = False
    format: Format = field(default_factory=Format)
    files: list[RawFile] = field(default_factory=list)
    openml: OpenML | None = None


@dataclass
class Condition:
    """Keeps a row whose value is one of these, none of these, or between two numbers.

    A row without a value meets no condition.
    """

    column: str
    one_of: list[Any] | None = None
    none_of: list[Any] | None = None
    between: list[float] | None = None


@dataclass
class Label:
    """Label 1 are the positive values (the others must be among the negative), or those above."""

    column: str
    positive: list[Any] | None = None
    negative: list[Any] | None = None
    above: float | None = None


@dataclass
class Expect:
    """What a dataset must hold: its shape, label ones, and :func:`...dataset.value_hash`."""

    rows: int
    columns: int
    positives: int
    sha256: str


@dataclass
class Recipe:
    """How one protocol turns a table into (X, y); the steps are those of the encoder."""

    table: str
    label: Label
    intercept: bool
    encode: list[dict[str, Any]]
    expect: Expect
    keep: list[Condition] = field(default_factory=list)


@dataclass
class DatasetSpec:
    """One file of conf/dataset; ``group`` is a raw column to keep aside."""

    name: str
    title: str
    licence: str
    citation: str
    homepage: str
    tables: dict[str, Table]
    protocols: dict[str, Recipe]
    group: str | None = None

    def recipe(self, protocol: str) -> Recipe:
        """Return the recipe of a protocol."""
        if protocol not in self.protocols:
            hint = closest(protocol, self.protocols)
            raise DataError(f"dataset {self.name} has no protocol {protocol!r}{hint}")
        return self.protocols[protocol]


def dataset_names() -> list[str]:
    """Return the names of the datasets that are declared as tables with recipes."""
    found = (conf_dir() / "dataset").glob("*.yaml")
    return sorted(
        path.stem for path in found if "\nprotocols:\n" in path.read_text(encoding="utf-8")
    )


def read_spec(name: str) -> DatasetSpec:
    """Return the declaration of a dataset."""
    path = conf_dir() / "dataset" / f"{name}.yaml"
    if name not in dataset_names():
        raise DataError(f"there is no dataset {name!r}{closest(name, dataset_names())}")
    return parse_spec(OmegaConf.load(path), path)


def parse_spec(config: Any, path: Path | str) -> DatasetSpec:
    """Return a config as a typed object; ``path`` is for the error message."""
    try:
        merged = OmegaConf.merge(OmegaConf.structured(DatasetSpec), config)
        return cast(DatasetSpec, OmegaConf.to_object(merged))
    except OmegaConfBaseException as error:
        raise DataError(f"{path}: {error}") from error

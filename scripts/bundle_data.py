"""Make pipeline/data/bundled/*.parquet from the files as they were published.

    python scripts/bundle_data.py [--mirror BUNDLED] [--output BUNDLED]

The files come from a mirror (the folder, or $ONESIDED_DATA_MIRROR), else from OpenML or the
addresses in conf/dataset. Each table must have the rows and the hash of values of its config, and
holds the columns that are declared there and no others.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pipeline.data.errors import MismatchError
from pipeline.data.sources import Settings, find_table
from pipeline.data.sources.table import BUNDLED, write_parquet
from pipeline.data.spec import Table, dataset_names, read_spec

MAX_BYTES = 4_000_000


def bundle(key: str, table: Table, settings: Settings, out: Path) -> None:
    """Write one table."""
    elsewhere = dataclasses.replace(table, bundled=False)
    frame, source = find_table(key, elsewhere, settings)
    path = out / f"{key}.parquet"
    write_parquet(frame, path)
    print(f"{path.name:24} {path.stat().st_size:9,} bytes, {len(frame):6} rows, from {source}")


def write_readme(out: Path) -> None:
    """Write licence and citation of every table beside it."""
    lines = [
        "# Bundled tables",
        "",
        "Made by `scripts/bundle_data.py`; the values are those of the published files, see",
        "`conf/dataset` for their hashes. Each table keeps its own licence. Please cite:",
        "",
    ]
    for name in dataset_names():
        spec = read_spec(name)
        files = " and ".join(f"`{key}.parquet`" for key in spec.tables)
        lines.append(f"- {files}: {spec.title}. Licence: {spec.licence}.")
        address = "" if spec.homepage in spec.citation else f" Published at {spec.homepage}."
        lines.append(f"  {spec.citation}{address}")
    (out / "README.md").write_text("\n".join(lines) + "\n")


def main() -> None:
    """Find, check, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mirror", type=Path, help="folder of the files ($ONESIDED_DATA_MIRROR)")
    parser.add_argument("--output", type=Path, default=BUNDLED)
    arguments = parser.parse_args()
    settings = Settings.of(mirror=arguments.mirror)
    for name in dataset_names():
        for key, table in read_spec(name).tables.items():
            bundle(key, table, settings, arguments.output)
    write_readme(arguments.output)
    total = sum(path.stat().st_size for path in arguments.output.glob("*.parquet"))
    print(f"together {total:,} bytes")
    if total > MAX_BYTES:
        raise MismatchError.of("bundled tables, bytes", f"at most {MAX_BYTES}", total)


if __name__ == "__main__":
    main()

"""A part of a sweep: cells that share their data and are computed together, on their way.

A part is a file in the sweep's folder. Whatever starts workers, joblib, Ray or Slurm, hands them
its name and nothing else.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pipeline.files import replacing
from pipeline.jobs.errors import ConfigError
from pipeline.jobs.parcel import Parcel
from pipeline.jobs.runner import Places


@dataclass(frozen=True)
class Part:
    """What a worker is given.

    Attributes:
        parcels: the cells, by their number in the sweep.
        places: where data come from and results go to.
        force: compute also what is there already.
        threads: lanes that run at the same time.
        journal: folder in which a worker writes down what becomes of each cell.
        cwd: folder the command was given in: paths may be relative.
        parent: process that waits for the part.
    """

    parcels: Mapping[int, Parcel]
    places: Places
    force: bool
    threads: int
    journal: Path
    cwd: Path
    parent: int

    def save(self, file: Path) -> None:
        """Write the part to a file."""
        with replacing(file) as partial:
            partial.write_bytes(pickle.dumps(self, protocol=pickle.HIGHEST_PROTOCOL))


def read_part(file: Path) -> Part:
    """Return the part of a file that :meth:`Part.save` wrote."""
    try:
        part = pickle.loads(file.read_bytes())
    except FileNotFoundError as error:
        raise _not_shared(file) from error
    assert isinstance(part, Part)
    if not part.cwd.is_dir():
        raise _not_shared(part.cwd)
    return part


def _not_shared(place: Path) -> ConfigError:
    return ConfigError(
        f"a worker does not find {place}: all machines must share the folder of the sweep and the "
        "one the command was given in, see docs/cluster.md"
    )

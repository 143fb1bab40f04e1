"""Save a learner to one file and read it back: arrays and plain settings, never pickle."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FORMAT = "onesided-learner-1"
Arrays = dict[str, NDArray[Any]]


def write(path: str | os.PathLike[str], settings: dict[str, Any], arrays: Arrays) -> None:
    """Write atomically: the file is either the old one or the new one, never a part."""
    target = Path(path)
    partial = target.with_name(f"{target.name}.{os.getpid()}.partial")
    text = np.array(json.dumps({"format": FORMAT, **settings}))
    try:
        with partial.open("wb") as file:
            np.savez(file, allow_pickle=False, settings=text, **arrays)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], Arrays]:
    """Return settings and arrays."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays: Arrays = {name: file[name] for name in file.files}
        settings = json.loads(str(arrays.pop("settings")))
    except (ValueError, KeyError, EOFError, TypeError, AttributeError, zipfile.BadZipFile) as error:
        raise ValueError(f"{os.fspath(path)} is not a saved learner: {error}") from None
    if settings.get("format") != FORMAT:
        raise ValueError(f"{os.fspath(path)} has format {settings.get('format')!r}, not {FORMAT!r}")
    return settings, arrays

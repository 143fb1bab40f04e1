"""Save a learner to one file and read it back: arrays and plain settings, never pickle."""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FORMAT = "onesided-learner-2"
WITHOUT_DIGEST = "onesided-learner-1"
LONG_AGO = (1980, 1, 1, 0, 0, 0)
Arrays = dict[str, NDArray[Any]]


def write(path: str | os.PathLike[str], settings: dict[str, Any], arrays: Arrays) -> None:
    """Write atomically: the file is either the old one or the new one, never a part.

    It is an .npz file without time stamps: the same learner gives the same bytes.
    """
    target = Path(path)
    partial = target.with_name(f"{target.name}.{os.getpid()}.partial")
    text = json.dumps({"format": FORMAT, **settings}, default=_plain)
    try:
        with zipfile.ZipFile(partial, "w") as file:
            digest = np.array(_digest(text, arrays))
            for name, array in {"settings": np.array(text), "digest": digest, **arrays}.items():
                with file.open(
                    zipfile.ZipInfo(f"{name}.npy", LONG_AGO), "w", force_zip64=True
                ) as part:
                    np.lib.format.write_array(part, np.asanyarray(array), allow_pickle=False)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


def _plain(value: Any) -> Any:
    """Return a number of numpy as a number of Python."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} cannot be saved")


def _digest(settings: str, arrays: Arrays) -> str:
    """Return a digest of all that is saved."""
    digest = hashlib.sha256(settings.encode())
    for name, array in sorted(arrays.items()):
        digest.update(repr((name, array.shape, array.dtype.str)).encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def count(counters: dict[str, Any], name: str) -> int:
    """Return a saved counter."""
    value = counters[name]
    if type(value) is not int or not 0 <= value < 2**62:
        raise ValueError(f"{name} cannot be {value!r}")
    return value


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], Arrays]:
    """Return settings and arrays."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays: Arrays = {name: file[name] for name in file.files}
        text = str(arrays.pop("settings"))
        settings = json.loads(text)
        found = settings["format"]
        digest = str(arrays.pop("digest", ""))
    except OSError:
        raise
    except Exception as error:  # whatever a damaged archive makes numpy, zip or json raise
        raise not_a_learner(path, error) from None
    if found not in (FORMAT, WITHOUT_DIGEST):
        raise ValueError(f"{os.fspath(path)} has format {found!r}, not {FORMAT!r}")
    if found == FORMAT and digest != _digest(text, arrays):
        raise ValueError(f"{os.fspath(path)} was altered or damaged: its digest is another one")
    return settings, arrays


def not_a_learner(path: str | os.PathLike[str], error: Exception) -> ValueError:
    """Return the error for a file that holds something else."""
    reason = f"{type(error).__name__}: {error}"
    return ValueError(f"{os.fspath(path)} is not a saved learner ({reason})")

"""The openml package in a process of its own: see openml.py.

Arguments: data id, folder to work in, server or "", most bytes of a file. Writes table.parquet and
answer.json.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any


def main(data_id: int, folder: Path, server: str, most: int) -> None:
    """Write the table and its target, or the reason why there is none."""
    users_cache = os.environ.pop("OPENML_CACHE_DIR", None)
    os.environ["HOME"] = os.environ["XDG_CONFIG_HOME"] = str(folder)  # the client writes there
    import openml

    openml.config.set_root_cache_directory(str(folder / "client"))
    openml.config.set_retry_policy("human", n_retries=2)
    if server:
        openml.config.server = server
    if users_cache:
        _copy_cached(data_id, Path(users_cache), folder / "client", openml.config)
    answer = _fetch(data_id, folder, most)
    (folder / "answer.json").write_text(json.dumps(answer))


def _copy_cached(data_id: int, users: Path, ours: Path, config: object) -> None:
    """Copy what the user's own cache holds of the dataset, without its pickles."""
    inside = Path(config.get_cache_directory()).relative_to(ours)  # type: ignore[attr-defined]
    place = inside / "datasets" / str(data_id)
    if (users / place).is_dir():
        leave = shutil.ignore_patterns("*.pkl*", "*.pickle*", "*.feather*")
        shutil.copytree(users / place, ours / place, ignore=leave, dirs_exist_ok=True)


def _fetch(data_id: int, folder: Path, most: int) -> dict[str, str | None]:
    """Return the target's name, or the error and whether the data is bad or out of reach."""
    import pandas as pd
    from openml.exceptions import OpenMLHashException, OpenMLServerError
    from requests.exceptions import RequestException

    try:
        size = None if _is_here(data_id, folder) else _announced(data_id)
        if size is None or size <= most:
            dataset = _dataset(data_id, download_data=True)
            file = dataset.parquet_file or dataset.data_file
            size = Path(file).stat().st_size if file else 0
        if size > most:
            return {"kind": "large", "error": str(size)}
        frame = pd.DataFrame(dataset.get_data(target=None)[0])
        frame.to_parquet(folder / "table.parquet")
    except OpenMLHashException as error:
        return {"kind": "bad", "error": f"wrong checksum: {_short(error)}"}
    except (OpenMLServerError, RequestException, OSError) as error:
        return {"kind": "unavailable", "error": f"{type(error).__name__}: {_short(error)}"}
    except Exception as error:  # whatever the parser makes of a damaged file
        return {"kind": "bad", "error": f"cannot be read: {type(error).__name__}"}
    return {"target": dataset.default_target_attribute}


def _dataset(data_id: int, download_data: bool) -> Any:
    import openml

    bare: dict[str, Any] = {"download_qualities": False, "download_features_meta_data": False}
    return openml.datasets.get_dataset(data_id, download_data=download_data, **bare)


def _is_here(data_id: int, folder: Path) -> bool:
    """Return whether the user's own cache had the file."""
    names = ("dataset.arff", "dataset.pq", f"dataset_{data_id}.pq")
    return any(path.name in names for path in (folder / "client").rglob(f"{data_id}/*"))


def _announced(data_id: int) -> int | None:
    """Return how large the server says the file is, None if it does not."""
    import requests

    dataset = _dataset(data_id, download_data=False)
    try:
        with requests.get(dataset._parquet_url or dataset.url, stream=True, timeout=20) as response:
            length = response.headers.get("Content-Length", "") if response.ok else ""
    except requests.exceptions.RequestException:
        return None  # the download will say what is wrong
    return int(length) if length.isdigit() else None


def _short(error: Exception) -> str:
    """Return what an error says, without the web page a server may have sent."""
    return " ".join(str(error).partition("<")[0].split())[:300]


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]))

"""MLflow's store: where it is, how it is made, one client a process.

MLflow takes seconds to import, so that happens inside functions, after its environment is set.
"""

from __future__ import annotations

import fcntl
import logging
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from pipeline.tracking.errors import SILENT, TrackingError

if TYPE_CHECKING:
    from mlflow.tracking import MlflowClient

DATABASE, ARTIFACTS, LOCK = "mlflow.db", "mlartifacts", ".mlflow.lock"
QUIET = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "DO_NOT_TRACK": "true",
    "MLFLOW_LOGGING_LEVEL": "CRITICAL",  # what fails is told in one line, by a TrackingError
}
# MLflow's own 120 s and 7 retries would keep a sweep waiting for a server that is down.
IMPATIENT = {
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "5",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",
    "MLFLOW_HTTP_REQUEST_BACKOFF_FACTOR": "1",
}
NOISY = ("alembic", "urllib3")


SECONDS_OF_SILENCE = 60.0
_silent_until: dict[str, float] = {}


def database(outputs: Path) -> Path:
    """Return the database under ``outputs``."""
    return outputs.resolve() / DATABASE


def store_uri(uri: str | None, outputs: Path) -> str:
    """Return the address of a store: the database under ``outputs``, unless another is given."""
    if not uri:
        return f"sqlite:///{_quoted(database(outputs))}"
    scheme, _, path = uri.partition("sqlite:///")
    relative = not scheme and path and not path.startswith("/")
    return f"sqlite:///{_quoted(Path.cwd())}/{path}" if relative else uri


def _quoted(path: Path) -> str:
    """Return a path as part of an address, in which these two letters have a meaning."""
    return str(path).replace("%", "%25").replace("?", "%3F")


def set_environment() -> None:
    """Make MLflow quiet and impatient; what the user has set stays as it is."""
    for key, value in {**QUIET, **IMPATIENT}.items():
        os.environ.setdefault(key, value)


def import_mlflow() -> type[MlflowClient]:
    """Import MLflow, its environment set before; return its client."""
    set_environment()
    from mlflow.tracking import MlflowClient

    return MlflowClient


@lru_cache(maxsize=4)
def client_of(uri: str) -> MlflowClient:
    """Return the client of a store; a database that is missing is made."""
    client = import_mlflow()(tracking_uri=uri)
    named = uri.partition("sqlite:///")[2]
    if "%" in named:  # MLflow makes a folder of the very name, too
        with suppress(OSError):
            Path(named).parent.rmdir()
    return client


@contextmanager
def told(uri: str) -> Iterator[None]:
    """Turn whatever goes wrong into a :class:`TrackingError`, and keep libraries quiet.

    A server that kept one job waiting is not asked again for a minute: a sweep has many jobs.
    """
    if time.monotonic() < _silent_until.get(uri, 0.0):
        raise TrackingError(uri, SILENT)
    loggers = [logging.getLogger(name) for name in NOISY]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    except TrackingError:
        raise
    except Exception as error:  # tracking must not cost a result, whatever happens in there
        failure = TrackingError.of(uri, error)
        if failure.why == SILENT:
            _silent_until[uri] = time.monotonic() + SECONDS_OF_SILENCE
        raise failure from error
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


@contextmanager
def locked(uri: str, outputs: Path) -> Iterator[None]:
    """Let one process at a time in: two that make the same database crash each other."""
    outputs.mkdir(parents=True, exist_ok=True)
    file_of_store = unquote(uri.partition("sqlite:///")[2])
    folder = Path(file_of_store).parent if file_of_store else outputs
    with (folder / LOCK).open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def hold(folder: Path) -> int | None:
    """Return a hold on the folder of a sweep; None if another process has it.

    It ends with the process at the latest, however that ends.
    """
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    except OSError:  # a disk of another machine that cannot do this: as if alone
        pass
    return descriptor


def experiment_id(uri: str, name: str, outputs: Path) -> str:
    """Return the id of MLflow's experiment of that name, which is made where it is missing."""
    client = client_of(uri)
    found = client.get_experiment_by_name(name)
    if found is None:
        # A server has a place for files; for a database MLflow would take the working folder.
        remote = uri.startswith(("http:", "https:", "databricks"))
        place = None if remote else (outputs.resolve() / ARTIFACTS).as_uri()
        try:
            return str(client.create_experiment(name, place))
        except Exception:  # by somebody on another machine, a moment ago?
            found = client.get_experiment_by_name(name)
            if found is None:
                raise
    if found.lifecycle_stage == "deleted":
        raise TrackingError(uri, f"experiment {name!r} is deleted there; set tracking.experiment=…")
    return str(found.experiment_id)

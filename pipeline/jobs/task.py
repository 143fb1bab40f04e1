"""What a worker does for one job of a sweep."""

from __future__ import annotations

import os
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import MissingMandatoryValue, OmegaConfBaseException

from pipeline.data.sources import Settings
from pipeline.jobs.cell import Cell, make_cell
from pipeline.jobs.early import check_sources
from pipeline.jobs.errors import ConfigError
from pipeline.jobs.explain import explain
from pipeline.jobs.inferred import write_notes
from pipeline.jobs.lines import job_text
from pipeline.jobs.logbook import tracked
from pipeline.jobs.runner import Places, Run, run_cells
from pipeline.results.runs import RunFolder
from pipeline.results.sweeps import Entry, Journal

SECONDS_BETWEEN_REPORTS = 0.5


@dataclass(frozen=True)
class Job:
    """One job of a sweep, as a worker receives it.

    Attributes:
        config: as composed.
        journal: of the sweep.
        number: of the job.
        config_dirs: folders of configs outside the project.
        alone: whether it is the only job, and may use every core.
    """

    config: DictConfig
    journal: Journal
    number: int
    config_dirs: Sequence[Path] = ()
    alone: bool = False


def execute(job: Job) -> Entry:
    """Run a job, write down what became of it, and log it where the sweep is tracked.

    A failure is written down too, not raised: a launcher would stop at the first one.
    """
    start = time.perf_counter()
    entry, trace = Entry(job.number, "running"), None
    try:
        values = plain(job.config)
        cell = make_cell(values, job.config_dirs)
        entry = entry.but(labels=cell.labels)
        job.journal.write(entry)
        run = _run(cell, values, job, entry)
        trace = run.trace
        entry = entry.but(state=run.state, reason=run.reason, **_found(run))
    except Exception as error:
        trace = traceback.format_exc()
        entry = entry.but(state="failed", reason=explain(error))
    if trace is not None:
        with suppress(OSError):  # a full disk may be the very reason, which is told anyway
            job.journal.write_trace(job.number, trace)
    entry = entry.but(seconds=time.perf_counter() - start, progress=1.0)
    entry = tracked(job.journal.about.get("tracking"), entry, job.journal.path.name)
    try:
        job.journal.write(entry)
    except OSError as error:  # a full disk: the parent will not read of it
        print(job_text(entry.but(state="failed", reason=explain(error))), file=sys.stderr)
    return entry


def plain(config: DictConfig) -> dict[str, Any]:
    """Return a config as plain values."""
    try:
        values = OmegaConf.to_container(config, resolve=True, throw_on_missing=True)
    except MissingMandatoryValue as error:
        raise ConfigError(f"{error.full_key} is not set: give {error.full_key}=…") from error
    except OmegaConfBaseException as error:
        raise ConfigError(str(error)) from error
    assert isinstance(values, dict)
    return {str(key): value for key, value in values.items()}


def places_of(values: dict[str, Any]) -> Places:
    """Return where data come from and results go to."""
    check_sources(values["data"])
    return Places(Path(str(values["outputs"])), Settings.of(**values["data"]))


def _run(cell: Cell, values: dict[str, Any], job: Job, entry: Entry) -> Run:
    threads = values["threads"] or ((os.cpu_count() or 1) if job.alone else 1)
    places = places_of(values)
    (run,) = run_cells(
        [cell],
        places,
        force=bool(values["force"]),
        threads=int(threads),
        progress=_reporter(job.journal, entry),
    )
    if run.folder is not None:  # else its data could not be loaded
        write_notes(job.journal, cell, places.data)
    return run


def _found(run: Run) -> dict[str, Any]:
    """Return folder and figures of a run."""
    if run.folder is None:
        return {}
    folder = str(run.folder.path)
    summary = None if run.state == "failed" else RunFolder(run.folder.path).outcome().summary
    return {"folder": folder, "summary": summary}


def _reporter(journal: Journal, entry: Entry) -> Callable[[int, int], None]:
    """Return a function that writes progress into the journal, not too often."""
    last = time.perf_counter()

    def report(done: int, total: int) -> None:
        nonlocal last
        now = time.perf_counter()
        if now - last >= SECONDS_BETWEEN_REPORTS:
            last = now
            journal.write(entry.but(progress=done / total))

    return report

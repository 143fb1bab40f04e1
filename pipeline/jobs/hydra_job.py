"""From Hydra's view of a job to ours."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig, read_write

from pipeline.jobs.errors import ConfigError
from pipeline.jobs.orphan import end_with_parent
from pipeline.jobs.process import set_up
from pipeline.jobs.task import Job, execute
from pipeline.paths import conf_dir
from pipeline.results.sweeps import Journal


def run_hydra_job(config: DictConfig) -> None:
    """Run the job Hydra has composed, in whatever process it has started."""
    set_up()
    end_with_parent()
    hydra = HydraConfig.get()
    many = hydra.mode == RunMode.MULTIRUN
    execute(
        Job(
            config=config,
            journal=_journal(hydra),
            number=int(hydra.job.num) if many else 0,
            config_dirs=own_config_dirs(hydra),
            alone=not many,
        )
    )


def sweep_dir(hydra: Any) -> Path:
    """Return the folder of the sweep."""
    return Path(hydra.sweep.dir if hydra.mode == RunMode.MULTIRUN else hydra.run.dir)


def pin_sweep_dir(config: DictConfig) -> None:
    """Name the sweep's folder in full to every worker: some start in another folder than this.

    Hydra composes the config of a job anew, from these overrides.
    """
    folder = str(sweep_dir(config.hydra).resolve()).replace("'", r"\'")
    with read_write(config):
        config.hydra.overrides.hydra.append(f"hydra.sweep.dir='{folder}'")


def own_config_dirs(hydra: Any) -> list[Path]:
    """Return the folders on the search path that are not the project's, nor Hydra's."""
    sources = [source for source in hydra.runtime.config_sources if source.provider != "hydra"]
    folders = [folder for source in sources for folder in _folders(source, hydra.runtime.cwd)]
    return [folder for folder in folders if folder.resolve() != conf_dir().resolve()]


def _folders(source: Any, cwd: str) -> Iterable[Path]:
    """Return the folders of ``file://folder`` or ``pkg://package.folder``; none where none is."""
    if source.schema == "file":
        return [Path(cwd, source.path)]
    if source.schema != "pkg":
        return []
    try:
        spec = importlib.util.find_spec(source.path)
    except ModuleNotFoundError:  # Hydra has warned of it
        return []
    return map(Path, (spec and spec.submodule_search_locations) or ())


def _journal(hydra: Any) -> Journal:
    """Return the sweep's journal, and go where the command was given: paths may be relative."""
    journal = Journal(sweep_dir(hydra))
    if not journal.about or not Path(hydra.runtime.cwd).is_dir():
        raise ConfigError(
            f"a worker does not find the folder of the sweep, {journal.path}, or the one the "
            "command was given in: all machines must share them, see docs/cluster.md"
        )
    os.chdir(hydra.runtime.cwd)  # Hydra returns to where it was after the job
    return journal

"""The parent's side of a command: open the sweep, watch it, end with the table."""

from __future__ import annotations

import multiprocessing.resource_tracker
import shlex
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.plugins.sweeper import Sweeper
from joblib.externals.loky.backend import resource_tracker
from omegaconf import DictConfig, OmegaConf

from pipeline.jobs.early import check_choices, check_job, check_writable, covering
from pipeline.jobs.errors import MethodError
from pipeline.jobs.hydra_job import own_config_dirs, sweep_dir
from pipeline.jobs.summary import report
from pipeline.jobs.task import plain
from pipeline.jobs.warm import warm_up
from pipeline.jobs.watch import Watch
from pipeline.results.sweeps import Journal
from pipeline.tracking.tracker import TrackingError, close_sweep, open_sweep


@dataclass
class Command:
    """A command that runs.

    Attributes:
        journal: of its sweep.
        total: number of jobs.
        tracking: where it is tracked, None for nowhere.
        watch: shows how far it is.
    """

    journal: Journal
    total: int
    tracking: dict[str, Any] | None
    watch: Watch


_current: Command | None = None


def open_command(config: DictConfig, many: bool) -> None:
    """Make the sweep folder, open the tracking, compile what is not compiled, begin to watch."""
    global _current  # noqa: PLW0603 — Hydra makes the callback; there is one command a process
    jobs = _jobs(config) if many else [[]]
    outputs = _check(config, jobs, many)
    BasicSweeper.validate_batch_is_legal = _validated  # type: ignore[assignment, method-assign]
    journal = Journal(sweep_dir(config.hydra))
    about = {**_about(len(jobs), journal), "tracking_wanted": plain(config.tracking)}
    about["overrides"] = jobs
    journal.open({**about, "tracking": None})
    tracking = _track(about, outputs, many)
    journal.open({**about, "tracking": tracking})
    warm_up()
    watch = Watch(journal, len(jobs))
    _current = Command(journal, len(jobs), tracking, watch)
    watch.start()
    if many and config.n_jobs != 1:
        _keep_ctrl_c_from_workers()


def is_open() -> bool:
    """Tell whether a command got as far as a sweep."""
    return _current is not None


def close_command(stopped: bool) -> int:
    """Show the final table; return how many jobs failed or never finished."""
    command = _current
    if command is None:
        return 0
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    command.watch.stop()
    entries = list(command.journal.entries())
    failed = report(command.journal, entries, command.total, stopped)
    if command.tracking is not None:
        try:
            close_sweep(command.tracking, failed, command.journal.path)
        except TrackingError as error:
            print(error, file=sys.stderr)
    return failed


def _keep_ctrl_c_from_workers() -> None:
    """Let the parent alone hear of Ctrl-C: it ends its workers, which would end with a trace each.

    A process inherits what the thread that starts it blocks. The signal still gets here, by way
    of the watch's thread, and is handled where Python always handles it: in this thread. The
    trackers of resources unblock it when they start, hence before.
    """
    for tracker in (multiprocessing.resource_tracker, resource_tracker):
        tracker.ensure_running()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


def _check(config: DictConfig, jobs: list[list[str]], many: bool) -> Path:
    """Refuse what cannot be; return the folder of outputs."""
    check_choices(jobs, _options(config.hydra))
    for one in _composed(config, jobs) if many else [config]:
        task_config = OmegaConf.masked_copy(one, [str(key) for key in one if key != "hydra"])
        values, dirs = plain(task_config), own_config_dirs(config.hydra)
        try:
            check_job(values, dirs)
        except MethodError:  # where methods are swept, the jobs of the others can run
            check_job({**values, "method": plain(config.method)}, dirs)
    outputs = Path(str(config.outputs))
    check_writable(outputs)
    return outputs


def _options(hydra: Any) -> Callable[[str], list[str]]:
    """Return a function from a config group to what it has, wherever on the search path."""
    loader, overrides = GlobalHydra.instance().config_loader(), list(hydra.overrides.hydra)
    return lambda group: loader.get_group_options(
        group, config_name=hydra.job.config_name, overrides=overrides
    )


def _composed(config: DictConfig, jobs: list[list[str]]) -> Iterator[DictConfig]:
    """Yield a job's config for each value that is swept: all combinations would take minutes."""
    loader = GlobalHydra.instance().config_loader()
    for job in covering(jobs):
        yield loader.load_sweep_config(config, list(job))


def _validated(sweeper: Sweeper, batch: Sequence[Sequence[str]]) -> None:
    """Compose nothing: what Hydra would do here, after the sweep has begun, was done before."""


def _about(total: int, journal: Journal) -> dict[str, Any]:
    return {
        "command": shlex.join(["python", "-m", "pipeline.run", *sys.argv[1:]]),
        "jobs": total,
        "sweep": journal.path.name,
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _track(about: dict[str, Any], outputs: Path, many: bool) -> dict[str, Any] | None:
    """Open the tracking; without it the results are saved all the same, and the run says so."""
    try:
        return open_sweep(about["tracking_wanted"], outputs, about, many)
    except TrackingError as error:
        print(error, file=sys.stderr, flush=True)
        return None


def _jobs(config: DictConfig) -> list[list[str]]:
    """Return the overrides of every job the sweeper will launch."""
    params = [f"{key}={value}" for key, value in (config.hydra.sweeper.params or {}).items()]
    parser = OverridesParser.create(GlobalHydra.instance().config_loader())  # for glob(…)
    parsed = parser.parse_overrides([*params, *config.hydra.overrides.task])
    return [job for batch in BasicSweeper.split_arguments(parsed, None) for job in batch]

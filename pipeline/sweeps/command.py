"""The command ``python -m pipeline.run``: refuse or open, run, end with the table and a code."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydra.core.global_hydra import GlobalHydra
from omegaconf import DictConfig, OmegaConf

from pipeline.cells.errors import SweepError, explain
from pipeline.cells.read import check_writable, plain
from pipeline.command_line import (
    BY_SIGNAL,
    FAILED,
    code_of,
    name_of,
    stopped_by_signals,
    typed,
)
from pipeline.results.journal import Run
from pipeline.summary.ending import report
from pipeline.sweeps.desk import Desk, open_desk, sweep_folder
from pipeline.sweeps.executors import here, hydra_launcher
from pipeline.sweeps.plan import Planned, own_folders, plan_config, read_cells
from pipeline.sweeps.progress import Bar, following
from pipeline.sweeps.run import Executor, order_of, run
from pipeline.sweeps.worker import failed
from pipeline.terminal import complain

if TYPE_CHECKING:
    from hydra.plugins.launcher import Launcher

WAS_STOPPED = "stopped; finished cells are kept: run the same command again to go on"


def run_sweep(config: DictConfig, launcher: Launcher) -> int:
    """Run the sweep Hydra has composed, with its launcher; return the exit code."""
    jobs = plan_config(config, GlobalHydra.instance().config_loader())
    folder = Path(str(config.hydra.sweep.dir))
    executor = hydra_launcher(launcher, folder.resolve())
    return _run(jobs, folder, executor, many=True)


def run_single(config: DictConfig, hydra: Any) -> int:
    """Run the one cell Hydra has composed, in this process; return the exit code."""
    values = plain(OmegaConf.masked_copy(config, [str(key) for key in config if key != "hydra"]))
    job = Planned(list(hydra.overrides.task), values, own_folders(hydra))
    return _run([job], sweep_folder(Path(str(values["outputs"]))), here, many=False)


def _run(jobs: Sequence[Planned], folder: Path, executor: Executor, many: bool) -> int:
    cells, broken = read_cells(jobs)
    values = jobs[0].values
    order = order_of(values if many else {**values, "n_jobs": -1}, executor)
    outputs, tracking = order.places.outputs, values["tracking"]
    check_writable(outputs)
    command = shlex.join([*typed("pipeline.run").split(), *sys.argv[1:]])
    overrides = [job.overrides for job in jobs]
    desk = open_desk(folder, outputs, command, overrides, tracking, complain, cells.values(), many)
    for number, error in broken.items():
        failed(desk.journal, Run(number, "running"), error)
    total = len(jobs)
    with stopped_by_signals():
        try:
            with following(desk.journal, desk.log, Bar(total), desk.prepare):
                run(cells, order, desk.journal)
        except BaseException as error:
            interrupt = _interrupt(error)
            if interrupt is not None:
                say(WAS_STOPPED)
                return _close(desk, total, code_of(interrupt))
            _close(desk, total, FAILED)
            raise SweepError from error
        return _close(desk, total, 0)


def _close(desk: Desk, total: int, code: int) -> int:
    """Show the table of what was started, tell MLflow of the end, and return the exit code."""
    lost, code = _report(desk, total, code)
    try:
        desk.close(lost, killed=code > BY_SIGNAL)
    except KeyboardInterrupt as stop:
        return code or code_of(stop)
    return code or (FAILED if lost else 0)


def _report(desk: Desk, total: int, code: int) -> tuple[int, int]:
    """Show the table; return how many cells are not done, and the exit code so far."""
    runs = list(desk.journal.runs())
    try:
        return report(desk.journal, runs, total, stopped=code != 0), code
    except KeyboardInterrupt as stop:  # then without the rest of it
        code = code or code_of(stop)
    except OSError as error:  # a full disk: what could not be written has been told, or is now
        say(explain(error))
        code = code or FAILED
    return total - sum(run.is_done for run in runs), code


def _interrupt(error: BaseException | None) -> BaseException | None:
    """Return the Ctrl-C, also where joblib could not tidy up after it and raised something else."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error


def say(line: str) -> None:
    """Say something that ends the command."""
    complain(f"{name_of('pipeline.run')}: {line}")

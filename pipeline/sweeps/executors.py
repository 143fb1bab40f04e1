"""Who runs the parts of a sweep: this process, joblib's workers, or a launcher of Hydra's.

Each is a function from the files of the parts; it returns when all have ended and raises
:class:`WorkerDiedError` when one of its workers is gone.
"""

from __future__ import annotations

import multiprocessing.resource_tracker
import os
import re
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.sweeps.orphan import end_with_parent
from pipeline.sweeps.run import Executor, WorkerDiedError
from pipeline.sweeps.worker import work

if TYPE_CHECKING:
    from hydra.plugins.launcher import Launcher

# By name, so that neither joblib nor Ray nor submitit is imported to know them.
DEAD_WORKER = {
    "BrokenProcessPool", "LocalRayletDiedError", "NodeDiedError", "OutOfMemoryError",
    "TerminatedWorkerError", "UncompletedJobError", "WorkerCrashedError",
}  # fmt: skip

ENDING = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}


def here(files: Sequence[Path]) -> None:
    """Run parts in this process, one after the other."""
    for file in files:
        work(file)


def joblib_workers(n_jobs: int) -> Executor:
    """Return what runs parts in worker processes of this machine.

    A worker is one core: threads of BLAS would only get into each other's way. A single part is
    computed in this process, which spares a start, but not after a worker has died.
    """
    careful = False

    def execute(files: Sequence[Path]) -> None:
        import joblib

        nonlocal careful
        workers = joblib.effective_n_jobs(n_jobs)
        if workers == 1 or (len(files) == 1 and not careful):
            here(files)
            return
        workers_of_one_core = joblib.parallel_config(
            backend="loky",
            inner_max_num_threads=1,
            initializer=end_with_parent,
            initargs=(os.getpid(),),
        )
        try:
            with _known_deaths(), _deaf_workers(), workers_of_one_core:
                joblib.Parallel(n_jobs=workers)(joblib.delayed(work)(file) for file in files)
        except WorkerDiedError:
            careful = True
            raise

    return execute


def hydra_launcher(launcher: Launcher, sweep_dir: Path) -> Executor:
    """Return what hands parts to a launcher; its workers call ``pipeline.run`` with a part.

    Args:
        launcher: set up by the sweeper.
        sweep_dir: folder of the sweep, in full: some workers start in another folder than this.
    """
    folder = _quoted(sweep_dir)
    started = 0

    def execute(files: Sequence[Path]) -> None:
        nonlocal started
        jobs = [[f"+part_file={_quoted(file)}", f"hydra.sweep.dir={folder}"] for file in files]
        deaf = _deaf_workers() if "joblib" in type(launcher).__module__ else nullcontext()
        with _known_deaths(), deaf:
            done = launcher.launch(jobs, initial_job_idx=started)
        started += len(jobs)
        for job in done:
            _ = job.return_value  # raises what kept a worker from its part

    return execute


def _quoted(path: Path) -> str:
    """Return a path as a value of Hydra's grammar: a backslash counts only before a quote."""
    text = re.sub(r"(\\*)'", r"\1\1\\'", str(path))
    return "'" + re.sub(r"(\\+)$", r"\1\1", text) + "'"


@contextmanager
def _known_deaths() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        if type(error).__name__ in DEAD_WORKER:
            raise WorkerDiedError(str(error)) from error
        raise


@contextmanager
def _deaf_workers() -> Iterator[None]:
    """Let the parent alone hear that a command is to end: it ends its workers by itself.

    They would end with a trace each. A process inherits what the thread that starts it blocks. The
    signal still gets to this process by way of another thread, and is handled where Python always
    does: in this one. The trackers of resources are deaf to two of the signals by themselves and
    unblock them when they start, hence before; joblib's starts with its first pool.
    """
    import joblib

    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})
    multiprocessing.resource_tracker.ensure_running()
    with joblib.Parallel(n_jobs=2, backend="loky"):
        pass
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)

"""Around a Hydra command: errors in one line, the final table whatever happened, an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

FULL_ERROR = "HYDRA_FULL_ERROR"
FAILED, REFUSED, STOPPED = 1, 2, 130
WAS_STOPPED = "stopped; finished jobs are kept: run the same command again to go on"
WORKER_DIED = (
    "a worker died (killed, or out of memory; fewer at once: n_jobs=1). Finished jobs are kept: "
    "run the same command again to complete the sweep"
)
# By name, so that neither joblib nor Ray nor submitit is imported to say so.
DEAD_WORKER = {
    "BrokenProcessPool", "LocalRayletDiedError", "NodeDiedError", "OutOfMemoryError",
    "TerminatedWorkerError", "UncompletedJobError", "WorkerCrashedError",
}  # fmt: skip


def guarded(main: Callable[[], None]) -> int:
    """Run a Hydra command and return its exit code: 0, 1 (jobs failed), 2 (refused), 130."""
    before = os.environ.get(FULL_ERROR)
    os.environ[FULL_ERROR] = "1"  # Hydra then raises what it would print with a long trace
    try:
        return _guarded(main, wants_trace=before == "1")
    finally:
        del os.environ[FULL_ERROR]
        if before is not None:
            os.environ[FULL_ERROR] = before


def _guarded(main: Callable[[], None], wants_trace: bool) -> int:
    code = 0
    try:
        main()
    except SystemExit:  # --help and its like
        raise
    except BaseException as error:
        code, line = _verdict(error)
        if wants_trace and code != STOPPED:
            raise
        _say(line)
    try:
        return _close(code)
    except KeyboardInterrupt:
        return STOPPED
    except Exception as error:
        if wants_trace:
            raise
        if not code:  # else it was said already what went wrong
            _say(_verdict(error)[1])
        return code or FAILED


def _close(code: int) -> int:
    """Show the table of what was started, and return the exit code."""
    command = _command()
    if command is None:
        return code
    failures = command.close_command(stopped=code in (FAILED, STOPPED))
    return code or (FAILED if failures else 0)


def _verdict(error: BaseException) -> tuple[int, str]:
    """Return exit code and line: what did not get as far as a sweep was refused."""
    from pipeline.jobs.explain import explain
    from pipeline.jobs.hydra_errors import explain_hydra

    if _is_interrupt(error):
        return STOPPED, WAS_STOPPED
    if type(error).__name__ in DEAD_WORKER:
        return FAILED, WORKER_DIED
    cause = error.__cause__ if type(error).__name__ == "StartError" else None
    refusal = explain_hydra(cause or error, sys.argv[1:])
    command = _command()
    started = command is not None and command.is_open()
    return FAILED if started and not refusal else REFUSED, refusal or explain(cause or error)


def _is_interrupt(error: BaseException | None) -> bool:
    """Tell Ctrl-C, also where joblib could not tidy up after it and raised something else."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _command() -> Any:
    """Return the parent's side, None if nothing was started: --help, --cfg, or refused early."""
    return sys.modules.get("pipeline.jobs.command")


def _say(line: str) -> None:
    print(f"pipeline.run: {line}", file=sys.stderr)

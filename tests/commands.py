"""Real commands in processes of their own, and what they leave on disk."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from pipeline.results.runs import STATUS, find_runs
from pipeline.sweeps.warm import NOTICE
from tests import faults

ROOT = Path(__file__).parents[1]
Process = subprocess.Popen[str]
LONGEST = 1500  # seconds; a bound, far above what a loaded machine takes to compile the kernels


def start(
    outputs: Path, *arguments: str, root: Path = ROOT, point: faults.Point | None = None
) -> Process:
    """Start ``python -m pipeline.run`` in a process group of its own, to be held at a point."""
    outputs.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pipeline.run", *arguments, "tracking=none"]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    if point is not None:
        environment |= point.environment(str(root))
    return start_command([*command, f"outputs={outputs}"], outputs.parent, environment)


def start_command(command: Sequence[str], cwd: Path, environment: Mapping[str, str]) -> Process:
    """Start any command in a process group of its own."""
    return subprocess.Popen(
        command,
        cwd=cwd,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=_listen,  # noqa: PLW1509 — no threads here
    )


def _listen() -> None:
    """A shell makes what it runs in the background deaf to Ctrl-C, nohup to SIGHUP: undo both."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def end(process: Process) -> subprocess.CompletedProcess[str]:
    """Wait for a command and return what it said."""
    out, err = process.communicate(timeout=LONGEST)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def run(outputs: Path, *arguments: str, root: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run ``python -m pipeline.run``; nothing of it is left when this is back."""
    process = start(outputs, *arguments, root=root)
    done = end(process)
    assert_gone(process)
    return done


def wait_for(what: Callable[[], bool], process: Process) -> bool:
    """Wait until something is so; False if the command ended before."""
    deadline = time.monotonic() + LONGEST
    while not what():
        if process.poll() is not None:
            return False
        assert time.monotonic() < deadline, "it never came to that"
        time.sleep(0.005)
    return True


def kill_group(process: Process, number: signal.Signals = signal.SIGKILL) -> None:
    """Send a signal to a command and all its workers, as a terminal does."""
    os.killpg(process.pid, number)


def group(process: Process) -> list[int]:
    """Return the processes of a command's group that are alive, from /proc."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == process.pid and fields[0] != "Z":
            found.append(int(folder.name))
    return found


def assert_gone(process: Process) -> None:
    """Wait until all processes of a command have ended."""
    deadline = time.monotonic() + LONGEST
    while group(process):
        assert time.monotonic() < deadline, "workers outlive their sweep"
        time.sleep(0.05)


def workers(process: Process) -> list[int]:
    """Return the loky workers of a command."""
    return [pid for pid in group(process) if "loky.backend.popen_loky" in _command_line(pid)]


def _command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


def said(errors: str) -> list[str]:
    """Return what a command said but for the lines of its jobs and that it compiles."""
    lines = errors.splitlines()
    return [line for line in lines if not line.startswith("[") and line != NOTICE]


def n_done(outputs: Path) -> int:
    """Return the number of finished runs."""
    return sum(folder.state == "done" for folder in find_runs(outputs))


def results(outputs: Path) -> dict[str, bytes]:
    """Return every file of the finished runs but the status, which has the time a run took."""
    found = {}
    for folder in find_runs(outputs):
        if folder.state != "done":
            continue
        folder.outcome()
        for file in sorted(folder.path.iterdir()):
            if file.name != STATUS and file.suffix != ".part":
                found[str(file.relative_to(outputs))] = file.read_bytes()
    return found

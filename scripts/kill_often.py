"""Kill a sweep at random moments, its start included, and see what is left.

    python scripts/kill_often.py --kills 40 --seed 0

Each time SIGKILL ends the command, and the command only: its workers must notice by themselves.
Then nothing of it may run any more after 15 s, every finished result must be whole and as it
should be, and the same command must complete the sweep with the very bytes of one that nobody
killed. The tests kill at named points instead: this looks for moments nobody has thought of.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from pipeline.results.runs import STATUS, find_runs

SWEEP = (
    "-m", "dataset=blood,diabetes", "method=greedy,ours,margin", "cutoff=0.5,0.7", "splits=4",
    "n_jobs=2", "part=1",
)  # fmt: skip
SECONDS_TO_END = 15.0


def main() -> int:
    """Kill as often as the command line says; return 1 if anything was found wanting."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    moments = random.Random(given.seed)
    with tempfile.TemporaryDirectory() as folder:
        _complete(Path(folder) / "warm")  # the kernels are compiled
        start = time.monotonic()
        _complete(Path(folder) / "whole")
        longest = time.monotonic() - start
        expected = _results(Path(folder) / "whole")
        faults = 0
        for number in range(given.kills):
            after = moments.uniform(0.0, longest)
            found = _kill_once(Path(folder) / "killed", after, expected)
            faults += bool(found)
            print(f"{number + 1:3} after {after:5.2f} s: {found or 'nothing amiss'}", flush=True)
            shutil.rmtree(Path(folder) / "killed")
    print(f"{given.kills} kills within {longest:.1f} s, {faults} with something amiss")
    return 1 if faults else 0


def _kill_once(outputs: Path, after: float, expected: dict[str, bytes]) -> str:
    """Kill a sweep and run it again; return what is amiss."""
    outputs.mkdir()
    process = _start(outputs)
    try:
        process.wait(timeout=after)
    except subprocess.TimeoutExpired:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    left = _left_after(process.pid, SECONDS_TO_END)
    before = _results(outputs)
    _complete(outputs)
    amiss = [f"{len(left)} processes were left"] if left else []
    amiss += [] if before.items() <= expected.items() else ["a finished result was wrong"]
    amiss += [] if _results(outputs) == expected else ["the rerun differs"]
    kept = [name for name in before if not (outputs / name).exists()]
    amiss += [f"{len(kept)} files were lost"] if kept else []
    return "; ".join(amiss)


def _start(outputs: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "pipeline.run", *SWEEP, f"outputs={outputs}", "tracking=none"]
    quiet = subprocess.DEVNULL
    return subprocess.Popen(command, stdout=quiet, stderr=quiet, start_new_session=True)


def _complete(outputs: Path) -> None:
    code = _start(outputs).wait()
    if code:
        sys.exit(f"the sweep itself failed with exit code {code}")


def _left_after(group: int, seconds: float) -> list[int]:
    """Return the processes of a group that are alive after some seconds, which are then killed."""
    end = time.monotonic() + seconds
    while (alive := _alive(group)) and time.monotonic() < end:
        time.sleep(0.1)
    if alive:
        os.killpg(group, signal.SIGKILL)
    return alive


def _alive(group: int) -> list[int]:
    found = []
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, its_group, *_ = file.read_text().rpartition(")")[2].split()
        except OSError:  # gone meanwhile
            continue
        if int(its_group) == group and state != "Z":
            found.append(int(file.parent.name))
    return found


def _results(outputs: Path) -> dict[str, bytes]:
    """Return the files of all finished runs but the status, which has the time a run took."""
    return {
        str(file.relative_to(outputs)): file.read_bytes()
        for folder in find_runs(outputs)
        if folder.state == "done"
        for file in sorted(folder.path.iterdir())
        if file.name != STATUS and file.suffix != ".part"
    }


if __name__ == "__main__":
    sys.exit(main())

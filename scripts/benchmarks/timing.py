"""Fair clocks: things that are compared take turns, and each keeps its best time.

What runs in one thread is measured in processor time. On a quiet machine that is the time on the
wall; on a busy one it leaves out the waiting, which would hit long runs more than short ones.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, TypeVar

SCRIPTS = Path(__file__).resolve().parent.parent
ROOT = SCRIPTS.parent
Name = TypeVar("Name")


def cpu_seconds(work: Callable[[], object]) -> float:
    """Return the processor time of a call that runs in one thread."""
    start = process_time()
    work()
    return process_time() - start


def wall_seconds(work: Callable[[], object]) -> float:
    """Return how long a call takes."""
    start = perf_counter()
    work()
    return perf_counter() - start


def cpu_share(work: Callable[[], object]) -> float:
    """Return the share of a call's time in which it had a processor."""
    cpu = process_time()
    wall = wall_seconds(work)
    return (process_time() - cpu) / wall


def best_of(repeats: int, costs: Mapping[Name, Callable[[], float]]) -> dict[Name, float]:
    """Return the smallest cost of each; every turn measures all of them, one after the other."""
    best = dict.fromkeys(costs, math.inf)
    for _ in range(repeats):
        for name, cost in costs.items():
            best[name] = min(best[name], cost())
    return best


def in_fresh_process(
    module: str, *arguments: object, environment: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Run ``python -m module`` and return the JSON object it prints last."""
    paths = [str(SCRIPTS), str(ROOT), os.environ.get("PYTHONPATH", "")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), **(environment or {})}
    command = [sys.executable, "-m", module, *map(str, arguments)]
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found

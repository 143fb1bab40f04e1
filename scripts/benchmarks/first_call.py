"""What the first call costs: compiling into an empty cache once, loading from it ever after.

``python -m benchmarks.first_call`` is one such process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from time import perf_counter

from benchmarks.report import Row, Target
from benchmarks.sizes import Sizes
from benchmarks.timing import ROOT, in_fresh_process, wall_seconds

STEPS = {"import": "import", "linear": "first linear run", "logistic": "first logistic run after"}


def first_call(sizes: Sizes) -> Iterator[Row]:
    """Seconds until the first results, with the cache and (in a full run) without.

    The README's first command is measured as a whole, and held to the time it may take.
    """
    with tempfile.TemporaryDirectory() as cache:
        environment = {"NUMBA_CACHE_DIR": cache} if sizes.cold else {}
        cold = in_fresh_process("benchmarks.first_call", environment=environment)
        warm = in_fresh_process("benchmarks.first_call", environment=environment)
    versus = "empty cache" if sizes.cold else "the process before"
    for step, name in STEPS.items():
        ratio = cold[step] / warm[step]
        yield Row(name, versus, ratio, warm[step], cold[step])
    if sizes.cold:
        with tempfile.TemporaryDirectory() as cache:
            before, after = (wall_seconds(partial(_first_command, cache)) for _ in range(2))
        target = Target(2.5, at_most=True)
        yield Row("README's first command", versus, before / after, after, before, target=target)


def _first_command(cache: str) -> None:
    with tempfile.TemporaryDirectory() as outputs:
        sweep = ["method=ours,margin", "cutoff=0.5,0.7", f"outputs={outputs}"]
        command = [sys.executable, "-m", "pipeline.run", "-m", *sweep]
        environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
        subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True)


def main() -> None:
    """Time the import and the first runs, and print them."""
    start = perf_counter()
    from rivals import data

    from benchmarks.streams import make_stream

    times = {"import": perf_counter() - start}
    X, y = data.dense(300, 8, 0)
    for link in ("linear", "logistic"):
        start = perf_counter()
        stream = make_stream(X, y, link)
        stream.simulate(stream.lanes())
        times[link] = perf_counter() - start
    print(json.dumps(times))


if __name__ == "__main__":
    main()

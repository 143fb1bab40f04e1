"""What the first call costs: compiling into an empty cache once, loading from it ever after.

``python -m benchmarks.first_call`` is one such process.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from time import perf_counter

from benchmarks.report import Row
from benchmarks.sizes import Sizes
from benchmarks.timing import in_fresh_process

STEPS = {"import": "import", "linear": "first linear run", "logistic": "first logistic run after"}


def first_call(sizes: Sizes) -> Iterator[Row]:
    """Seconds until the first results, with the cache and (in a full run) without."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {"NUMBA_CACHE_DIR": cache} if sizes.cold else {}
        cold = in_fresh_process("benchmarks.first_call", environment=environment)
        warm = in_fresh_process("benchmarks.first_call", environment=environment)
    versus = "empty cache" if sizes.cold else "the process before"
    for step, name in STEPS.items():
        ratio = cold[step] / warm[step]
        yield Row(name, versus, ratio, warm[step], cold[step])


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

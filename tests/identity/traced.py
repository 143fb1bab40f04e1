"""Which functions of the project run between a cell with its data and its figures.

``python -m tests.identity.traced`` runs small cells as plain Python and prints, for each, the
functions it met: found by watching, so that nothing depends on how the digest follows names.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Any

from tests.commands import LONGEST

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "pipeline"
GLM = "dataset=glm dataset.n=60 dataset.d=3 splits=2 alpha=1 tracking=none"
CELLS = (
    f"{GLM} method=ours",
    f"{GLM} method=greedy link=logistic protocol.batch_size=5 protocol.delay=1",
    f"{GLM} method=noise link=probit +protocol.truth.l2=1 cutoff_value=0.4",
    f"{GLM} method=margin dataset.noise=0 protocol.model.fit_intercept=true",
    f"{GLM} method=os_eps_greedy protocol=stated",
    "dataset=blood splits=[1] alpha=[0.1,1] tracking=none method=eps_greedy",
    "dataset=greedy_trap dataset.n=60 dataset.d=3 splits=2 alpha=1 tracking=none method=os_noise",
    f"{GLM} method=ours_log +protocol.model.grow=acceptance",
    f"{GLM} method=ours_theory method.coef_bound=0.1",
    f"{GLM} method=erm",
    f"{GLM} method=passive method.horizon=8",
    f"{GLM} method=passive_cover method.horizon=8 method.n_patterns=20",
    f"{GLM} method=sgd method.radius=1 method.noise_bound=0.1",
)
Met = dict[str, list[tuple[str, str]]]


def traced() -> Met:
    """Return the functions of each cell, as file and qualified name, from another process."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.identity.traced"],
        cwd=ROOT,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
        timeout=LONGEST,
    )
    found: dict[str, list[list[str]]] = json.loads(done.stdout)
    return {cell: [(file, name) for file, name in met] for cell, met in found.items()}


def main() -> None:
    """Run the cells and print what they met."""
    import numba

    # These two compile even where nothing shall be compiled.
    addressed: dict[int, Any] = {}

    def cfunc(*_: Any, **__: Any) -> Any:
        def plain(function: Any) -> Any:
            function.address = id(function)
            addressed[function.address] = function
            return function

        return plain

    numba.cfunc = cfunc
    from pipeline.cells.compute import compute
    from pipeline.cells.problem import dataset_of, prepare
    from pipeline.cells.read import make_cell
    from pipeline.core.kernels import lane, memory, streaming
    from pipeline.data.sources import Settings
    from tests.cells.configs import values

    lane.bonus_at = streaming.bonus_at = memory.link_at = addressed.__getitem__
    met: set[tuple[str, str]] = set()

    def watch(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(str(PACKAGE)):
            met.add((str(Path(code.co_filename).relative_to(ROOT)), code.co_qualname))

    found = {}
    for overrides in CELLS:
        cell = make_cell(values(*overrides.split()))
        dataset = dataset_of(cell, Settings.of(offline=True))
        met.clear()
        threading.setprofile(watch)
        sys.setprofile(watch)
        compute([cell], prepare(cell, dataset), threads=2)
        sys.setprofile(None)
        found[overrides] = sorted(met)
    print(json.dumps(found))


if __name__ == "__main__":
    main()

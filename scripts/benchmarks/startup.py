"""How long the command line takes to say something, beside a Hydra app that does nothing else."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from benchmarks.report import Row, Target
from benchmarks.sizes import Sizes
from benchmarks.timing import ROOT, best_of

ASKED = (("--help",), ("--cfg", "job"))
BARE = """\
import hydra
from omegaconf import DictConfig


@hydra.main(version_base="1.3", config_path=".", config_name="config")
def main(config: DictConfig) -> None:
    print(config)


main()
"""


def startup(sizes: Sizes) -> Iterator[Row]:
    """Processor time of ``python -m pipeline.run --help`` and ``--cfg job`` over a bare app's."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "app.py").write_text(BARE, encoding="utf-8")
        (folder / "config.yaml").write_text("seed: 0\n", encoding="utf-8")
        for asked in ASKED:
            costs = {
                "ours": _cost(["-m", "pipeline.run", *asked], folder),
                "bare": _cost(["app.py", *asked], folder),
            }
            best_of(1, costs)  # writes the byte code
            best = best_of(sizes.repeats, costs)
            case = f"python -m pipeline.run {' '.join(asked)}"
            ratio = best["ours"] / best["bare"]
            target = Target(1.5, at_most=True)
            yield Row(case, "a bare Hydra app", ratio, best["ours"], best["bare"], target=target)


def _cost(arguments: Sequence[str], folder: Path) -> Callable[[], float]:
    """Return a function that runs Python and returns the processor time it took."""
    env = {**os.environ, "PYTHONPATH": str(ROOT)}

    def cost() -> float:
        before = _children()
        command = [sys.executable, *arguments]
        subprocess.run(command, cwd=folder, env=env, stdout=subprocess.DEVNULL, check=True)
        return _children() - before

    return cost


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime

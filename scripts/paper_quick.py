"""Run all of dvc.yaml at toy size, on bundled data: ``make paper-quick``.

The stages are those of ``dvc repro``. They run in a workspace of their own, with a copy of the
code and of conf in which the sizes are small; what they make goes to ``outputs/quick``. The
project's own results and ``dvc.lock`` are not touched, and no network is asked.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from configparser import ConfigParser
from itertools import takewhile
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from pipeline.data.sources.settings import CACHE, MIRROR, RAW
from pipeline.sweeps.warm import warm_up

ROOT = Path(__file__).resolve().parents[1]
QUICK = ROOT / "outputs" / "quick"
PARTS = ("conf", "pipeline", "hydra_plugins", "dvc.yaml", ".dvcignore", ".dvc/config")
DATASETS = ["blood", "diabetes"]
Changes = Mapping[str, Mapping[str, Any]]  # new values of keys, by file of conf
SIZES, SEEDS = "hydra.sweeper.params[dataset.n]", "hydra.sweeper.params[dataset.seed]"
THEORY: Changes = {  # what the theory's stages compute, at toy size
    "experiment/greedy_trap.yaml": {"dataset.n": 1000, SEEDS: "0,1,2"},
    "experiment/greedy_trap_logistic.yaml": {SEEDS: "0,1,2"},
    "experiment/greedy_trap_erm.yaml": {"dataset.n": 1000, SEEDS: "0,1,2"},
    "experiment/rates.yaml": {SIZES: "300,1000", SEEDS: "0,1"},
    "experiment/rates_passive.yaml": {SIZES: "300,1000", SEEDS: "0,1"},
    "experiment/rates_sgd.yaml": {SIZES: "300,1000", SEEDS: "0,1"},
    "experiment/rates_theory.yaml": {SIZES: "300,1000", SEEDS: "0,1"},
    "experiment/sgd.yaml": {"dataset.n": 1001},
}
TOY: Changes = {
    **THEORY,
    "repro.yaml": {
        "datasets": DATASETS,
        "second_tables": {"bank": "bank_full"},
        "coverage": {"runs": 5, "sizes": [260, 320], "long": 2000},
        "erm": {"groups": 60},
        "sgd": {"runs": 3},
    },
    "experiment/paper.yaml": {"hydra.sweeper.params.dataset": ",".join(DATASETS)},
    "config.yaml": {"alpha": [0.0625, 0.25, 1.0]},
}


def make_workspace(folder: Path, changes: Changes = TOY) -> None:
    """Make a folder in which ``dvc repro`` runs the project's stages with other settings.

    MLflow is told of none of it: ``make ui`` shows the project's own runs.
    """
    for part in PARTS:
        source, target = ROOT / part, folder / part
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target)  # with times and compiled kernels, which stay valid
        else:
            shutil.copy2(source, target)
    config = ConfigParser()
    config.read(folder / ".dvc" / "config")
    config["core"]["no_scm"] = "true"
    with (folder / ".dvc" / "config").open("w", encoding="utf-8") as file:
        config.write(file)
    for name, values in changes.items():
        change(folder / "conf" / name, values)
    config_file = folder / "conf" / "config.yaml"
    text = config_file.read_text(encoding="utf-8")
    config_file.write_text(text.replace("- tracking: mlflow", "- tracking: none"), encoding="utf-8")


def change(file: Path, values: Mapping[str, Any]) -> None:
    """Set values in a YAML file; the comments it opens with stay, as Hydra reads them."""
    config = OmegaConf.load(file)
    for key, value in values.items():
        if OmegaConf.select(config, key) is None:
            raise KeyError(f"{file}: there is no {key} to change")
        OmegaConf.update(config, key, value, merge=False)
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    header = "".join(takewhile(lambda line: line.startswith("#"), lines))
    file.write_text(f"{header}\n{OmegaConf.to_yaml(config)}", encoding="utf-8")


def environment(folder: Path) -> dict[str, str]:
    """Return the environment of a workspace: its own data, caches and code, and this Python."""
    inherited = {key: value for key, value in os.environ.items() if key not in (MIRROR, RAW)}
    return {
        **inherited,
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        CACHE: str(folder / "cache"),
        "DVC_NO_ANALYTICS": "1",
        "DVC_SITE_CACHE_DIR": str(folder / ".dvc" / "tmp" / "site"),
    }


def dvc(folder: Path, *arguments: str) -> list[str]:
    """Return the command that runs dvc in a workspace."""
    return [sys.executable, "-m", "dvc", "--cd", str(folder), *arguments]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the stages and show where the results are; return the exit code."""
    parser = argparse.ArgumentParser(description="Run all of dvc.yaml at toy size.")
    parser.add_argument("--out", type=Path, default=QUICK, help="folder to replace by the results")
    out = parser.parse_args(arguments).out
    start = time.perf_counter()
    warm_up()  # here, so that the copy finds compiled kernels the next time too
    with tempfile.TemporaryDirectory(prefix="onesided-quick-") as name:
        folder = Path(name)
        make_workspace(folder)
        done = subprocess.run(dvc(folder, "repro"), env=environment(folder), check=False)
        if done.returncode != 0:
            return done.returncode
        if out.exists():
            shutil.rmtree(out)
        shutil.move(folder / "outputs", out)
    print(f"paper-quick: {time.perf_counter() - start:.0f} s; open {out / 'report' / 'index.html'}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)

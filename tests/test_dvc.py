"""dvc.yaml: the graph of its stages, and what is kept where."""

from __future__ import annotations

import importlib
import re
import subprocess
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from dvc.repo import Repo
from hydra.types import RunMode
from omegaconf import OmegaConf

from pipeline.paper.by_setting import FRESH
from pipeline.paper.collection import CELLS
from pipeline.paper.published import Setting, in_text
from pipeline.sweeps.plan import config_loader

ROOT = Path(__file__).parents[1]
PAPER = ("tables", "figures", "compare", "hindsight", "report")
THEORY = (
    "theory_trap",
    "theory_erm",
    "theory_rates",
    "theory_coverage",
    "theory_sgd",
)  # each runs its own experiments
SWEEPS = ("sweep@linear", "sweep@logistic", "sweep@stated", "sweep@fresh")
REPORTED = {"sweep@linear", "sweep@logistic"}
READS = {  # the sweeps and stages that a stage reads itself
    "tables": REPORTED | {"sweep@stated"},
    "figures": REPORTED,
    "compare": REPORTED,
    "hindsight": REPORTED | {"sweep@fresh"},
    "report": REPORTED | {"sweep@stated", "hindsight", *THEORY},
}


@pytest.fixture(scope="module")
def stages() -> dict[str, Any]:
    return {stage.addressing: stage for stage in Repo(str(ROOT)).index.stages}


@pytest.fixture(scope="module")
def reads() -> dict[str, set[str]]:
    """Return the stages that each stage reads, as DVC sees them."""
    graph = Repo(str(ROOT)).index.graph
    return {
        stage.addressing: {other.addressing for other in graph.successors(stage)} for stage in graph
    }


def params_of(experiment: str) -> dict[str, list[str]]:
    with config_loader() as loader:
        main = loader.load_configuration("config", [f"experiment={experiment}"], RunMode.MULTIRUN)
    return {key: str(value).split(",") for key, value in main.hydra.sweeper.params.items()}


def test_the_stages_form_the_graph(reads: dict[str, set[str]]) -> None:
    fetching = {name for name in reads if name.startswith("fetch")}
    assert set(reads) == fetching | set(SWEEPS) | set(PAPER) | set(THEORY)
    for name in (*fetching, *THEORY):
        assert reads[name] == set()
    for name in SWEEPS:
        assert reads[name] == fetching
    for name, wanted in READS.items():
        assert reads[name] == wanted


def test_whatever_a_stage_reads_is_there_or_made(stages: dict[str, Any]) -> None:
    made = [out.def_path for stage in stages.values() for out in stage.outs]
    for name, stage in stages.items():
        for dep in stage.deps:
            path = dep.def_path
            inside = [out for out in made if f"{out}/".startswith(f"{path}/")]
            assert inside or (ROOT / path).exists(), f"{name}: there is no {path}"
            values = OmegaConf.load(ROOT / path) if getattr(dep, "params", None) else {}
            for key in getattr(dep, "params", []):
                assert key in values, f"{name}: there is no {key} in {path}"


def test_a_sweep_reads_every_group_of_conf_that_it_composes(stages: dict[str, Any]) -> None:
    for name in SWEEPS:
        read = {dep.def_path for dep in stages[name].deps}
        composed = re.search(r"protocol=(\w+)", stages[name].cmd)
        assert composed
        groups = ("dataset", "experiment", "link", "method", f"protocol/{composed[1]}")
        assert {f"conf/{group}" for group in groups} <= read
        assert f"conf/protocol/{composed[1]}.yaml" in read


@pytest.mark.parametrize("name", THEORY)
def test_a_theory_stage_reads_the_configs_of_its_experiments(
    name: str, stages: dict[str, Any]
) -> None:
    command = re.search(r"pipeline\.theory (\w+)", stages[name].cmd)
    assert command
    module = importlib.import_module(f"pipeline.theory.{command[1]}")
    read = {dep.def_path for dep in stages[name].deps}
    for experiment in module.EXPERIMENTS:
        assert f"conf/experiment/{experiment}.yaml" in read
        with config_loader() as loader:
            chosen = [f"experiment={experiment}"]
            main = loader.load_configuration("config", chosen, RunMode.MULTIRUN)
        datasets = params_of(experiment).get("dataset", [main.dataset.name])
        assert {f"conf/dataset/{dataset}.yaml" for dataset in datasets} <= read


def test_run_folders_are_nobodys_outs(stages: dict[str, Any]) -> None:
    for stage in stages.values():
        for out in stage.outs:
            assert not "outputs/runs".startswith(out.def_path)
            assert not out.def_path.startswith("outputs/runs")


def test_git_keeps_exactly_what_the_cache_does_not(stages: dict[str, Any]) -> None:
    outs = [out for stage in stages.values() for out in stage.outs]
    for out in outs:
        assert ignored(out.def_path) == out.use_cache, out.def_path
    assert {Path(out.def_path).name for out in outs if not out.use_cache} == {
        CELLS, "tables", "tables_stated", "figures", "compare", "hindsight",
        *(name.removeprefix("theory_") for name in THEORY),
    }  # fmt: skip
    for litter in ("outputs/runs/x/status.json", "outputs/quick/report/index.html"):
        assert ignored(litter)
    assert ignored("outputs/paper/tables/.table1.md.abc.part")
    assert ignored("outputs/paper/theory/trap/.trap.md.abc.part")


def ignored(path: str) -> bool:
    command = ["git", "-C", str(ROOT), "check-ignore", "--quiet", "--no-index", path]
    return subprocess.run(command, check=False).returncode == 0


def test_the_sweeps_of_tables_1_and_2_have_their_cells_and_no_others() -> None:
    wanted = set(in_text())
    for experiment in ("tables", "fresh"):
        params = params_of(experiment)
        found = product(params["link"], params["dataset"], params["cutoff"])
        assert {Setting(*labels) for labels in found} == wanted
        assert params["method"] == params_of("paper")["method"]


def test_the_fresh_splits_are_those_that_hindsight_tunes_on() -> None:
    config = OmegaConf.load(ROOT / "conf" / "experiment" / "fresh.yaml")
    assert tuple(config.splits) == tuple(FRESH)

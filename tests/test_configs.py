"""Every config composes, says how it is used, and runs at toy size."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from hydra.types import RunMode
from omegaconf import OmegaConf

from pipeline.cells.cell import Cell
from pipeline.cells.read import make_cell
from pipeline.files import conf_dir
from pipeline.sweeps.plan import config_loader
from tests.cells.configs import places, run_listed, values

CONF = conf_dir()
FILES = sorted(path.relative_to(CONF) for path in CONF.rglob("*.yaml"))
TOY = ("splits=1", "alpha=[0.5]", "curve_points=20", "tracking=none")
SHRUNK = {"glm": ("dataset.n=300",), "greedy_trap": ("dataset.n=300",)}
NEED_INPUT = {"csv", "openml"}  # tests/test_run.py and tests/data run these


def names(group: str) -> list[str]:
    return sorted(path.stem for path in (CONF / group).glob("*.yaml"))


@pytest.mark.parametrize("file", FILES, ids=str)
def test_a_config_opens_with_the_command_that_uses_it(file: Path) -> None:
    lines = [line for line in (CONF / file).read_text().splitlines() if "@package" not in line]
    assert re.match(r"# (python -m pipeline\.(run|data|status) ?|dvc )", lines[0]), lines[0]


@pytest.mark.parametrize("protocol", names("protocol"))
@pytest.mark.parametrize("link", names("link"))
def test_every_protocol_has_every_link(protocol: str, link: str) -> None:
    cell = make_cell(values(f"protocol={protocol}", f"link={link}"))
    assert (cell.protocol, cell.link) == (protocol, link)


@pytest.mark.parametrize("method", names("method"))
def test_every_method_runs(method: str, tmp_path: Path) -> None:
    (run,) = run_listed(
        [make_cell(values(f"method={method}", "dataset=blood", *TOY))], places(tmp_path)
    )
    assert run.state == "computed", run.reason


@pytest.mark.parametrize("dataset", sorted(set(names("dataset")) - NEED_INPUT))
@pytest.mark.parametrize("protocol", names("protocol"))
def test_every_dataset_runs(dataset: str, protocol: str, tmp_path: Path) -> None:
    shrunk = SHRUNK.get(dataset, ())
    cell = make_cell(
        values(f"dataset={dataset}", f"protocol={protocol}", "method=greedy", *TOY, *shrunk)
    )
    (run,) = run_listed([cell], places(tmp_path))
    assert run.state == "computed", run.reason


@pytest.mark.parametrize("experiment", names("experiment"))
def test_every_experiment_composes(experiment: str) -> None:
    config = values(f"experiment={experiment}")
    assert make_cell(config).splits
    with config_loader() as loader:
        main = loader.load_configuration("config", [f"experiment={experiment}"], RunMode.MULTIRUN)
    assert main.hydra.sweeper.params, "an experiment sweeps over something"


@cache
def screened(link: str, *candidate: str) -> Cell:
    return make_cell(values("experiment=screen", "dataset=adult", f"link={link}", *candidate))


@pytest.mark.parametrize("candidate", names("candidate"))
def test_every_candidate_changes_the_protocol_of_its_link(candidate: str) -> None:
    link = candidate.partition("_")[0]
    plain, changed = screened(link), screened(link, f"candidate={candidate}")
    assert changed.setting != plain.setting
    assert (changed.protocol, changed.splits) == (plain.protocol, (20, 21, 22, 23, 24))


def test_an_experiment_changes_what_the_main_config_sets() -> None:
    assert make_cell(values("experiment=smoke")).splits == (0, 1, 2)
    assert make_cell(values("experiment=smoke", "splits=5")).splits == (0, 1, 2, 3, 4)
    trap = make_cell(values("experiment=greedy_trap"))
    assert (trap.dataset["n"], trap.dataset["d"]) == (10_000, 20)


def test_the_paper_has_1400_cells() -> None:
    params = OmegaConf.load(CONF / "experiment" / "paper.yaml").hydra.sweeper.params
    sizes = {key: len(str(value).split(",")) for key, value in params.items()}
    assert sizes == {"dataset": 10, "link": 2, "cutoff": 10, "method": 7}


def test_dvc_fetches_the_datasets_of_the_paper() -> None:
    repro = OmegaConf.load(conf_dir() / "repro.yaml")
    params = OmegaConf.load(conf_dir() / "experiment" / "paper.yaml").hydra.sweeper.params
    assert sorted(repro.datasets) == sorted(params.dataset.split(","))

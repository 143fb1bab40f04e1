"""The planned jobs against Hydra's own: same jobs, same order, same configs."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from hydra import compose, initialize_config_dir, version
from hydra.core.global_hydra import GlobalHydra
from hydra.errors import HydraException
from omegaconf import OmegaConf

from pipeline.cells.errors import ConfigError
from pipeline.files import conf_dir
from pipeline.sweeps.compose import Composer
from pipeline.sweeps.plan import Planned, plan

EXPERIMENTS = sorted(file.stem for file in (conf_dir() / "experiment").glob("*.yaml"))


def composed(job: Planned, *more: str) -> Any:
    """Compose a job with Hydra's public interface."""
    with initialize_config_dir(str(conf_dir()), version_base="1.3"):
        config = compose("config", overrides=[*job.overrides, *more])
        return OmegaConf.to_container(config, resolve=True)


def check(jobs: list[Planned], most: int, *more: str) -> None:
    for job in random.Random(0).sample(jobs, min(most, len(jobs))):
        assert job.values == composed(job, *more), job.overrides


def count_composed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    counts = [0]
    load = Composer._load

    def counted(self: Composer, overrides: list[str]) -> Any:
        counts[0] += 1
        return load(self, overrides)

    monkeypatch.setattr(Composer, "_load", counted)
    return counts


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_every_experiment_is_what_hydra_composes(experiment: str) -> None:
    check(plan([f"experiment={experiment}"]), 5)


def test_the_paper_is_1400_jobs_from_few_compositions(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = count_composed(monkeypatch)
    jobs = plan(["experiment=paper"])
    assert len(jobs) == 1400
    assert len({tuple(job.overrides) for job in jobs}) == 1400
    assert counts[0] <= 20  # 10 datasets + 2 links + 7 methods, not 140


def test_the_order_is_that_of_the_sweeper() -> None:
    jobs = plan(["method=ours,margin", "cutoff=0.5,0.7"])
    assert [job.overrides for job in jobs] == [
        ["method=ours", "cutoff=0.5"],
        ["method=ours", "cutoff=0.7"],
        ["method=margin", "cutoff=0.5"],
        ["method=margin", "cutoff=0.7"],
    ]


def test_the_command_line_wins_over_the_experiment() -> None:
    jobs = plan(["experiment=smoke", "method=noise", "splits=4", "dataset=blood"])
    assert len(jobs) == 4
    assert {job.values["method"]["name"] for job in jobs} == {"noise"}
    assert {job.values["splits"] for job in jobs} == {4}
    check(jobs, 4)


@pytest.mark.parametrize(
    "overrides",
    [
        ["protocol=inferred,stated", "link=linear,logistic,probit", "dataset=blood,glm"],
        ["dataset=glm", "dataset.n=100,200", "method=ours_theory", "method.horizon=5,6"],
        ["alpha=[0.1,1],grid", "splits=[0,3],2", "seed=1,2"],
        ["dataset=blood,glm", "method=ours,noise", "+dataset.group=age", "++seed=3"],
        ["method=ours,noise", "dataset=blood,glm", "seed=${splits}"],
        ["method=ours,noise", "dataset=blood,diabetes", "~curve_points"],
        ["protocol.model={l2: 2.0}", "method=ours,noise", "link=linear,logistic"],
        ["experiment=table1,table2", "method=ours,noise"],
        ["seed=range(0,3)", "method=glob(ours*)", "alpha=1"],
        [],
    ],
)
def test_any_command_line_is_what_hydra_composes(overrides: list[str]) -> None:
    jobs = plan(overrides)
    assert jobs
    check(jobs, 6)


def own_folder(folder: Path, name: str, text: str) -> Path:
    file = folder / f"{name}.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return folder


def test_configs_of_ones_own_are_found_either_way(tmp_path: Path) -> None:
    own_folder(tmp_path, "method/fading", "name: fading\nspeed: 2\n")
    search = f"hydra.searchpath=[file://{tmp_path}]"
    line = "method=ours,fading"
    for jobs in (plan([line], [tmp_path]), plan([line, search])):
        assert [job.values["method"]["name"] for job in jobs] == ["ours", "fading"]
        assert jobs[1].values["method"]["speed"] == 2
        assert jobs[0].config_dirs == [tmp_path]
        check(jobs, 2, search)


@pytest.mark.parametrize(
    "text",
    [
        "# @package _global_\nmethod: {name: fixed}\ndataset: {name: odd}\n",
        "name: odd\nn: ${seed}\nof: ${method.name}\n",
        "defaults: [/link@of: probit]\nname: odd\n",
        "defaults: [{/method@of: '${method}'}]\nname: odd\n",
    ],
)
def test_groups_that_hang_together_are_composed_together(tmp_path: Path, text: str) -> None:
    """A dataset that reaches into other groups: no part of another job's config may be used."""
    own_folder(tmp_path, "dataset/odd", text)
    search = f"hydra.searchpath=[file://{tmp_path}]"
    jobs = plan(["method=ours,noise", "dataset=blood,odd", "seed=0,1"], [tmp_path])
    assert len(jobs) == 8
    check(jobs, 8, search)


def test_hydra_is_left_as_it_was() -> None:
    with initialize_config_dir(str(conf_dir()), version_base="1.2"):
        before = GlobalHydra.instance().hydra
        plan(["experiment=smoke"])
        assert GlobalHydra.instance().hydra is before
        assert str(version.getbase()) == "1.2"
        assert compose("config").seed == 0


def test_nothing_of_hydra_is_left_where_there_was_nothing() -> None:
    GlobalHydra.instance().clear()
    for name in ("now", "hydra", "python_version"):
        OmegaConf.clear_resolver(name)
    plan([])
    assert not GlobalHydra.instance().is_initialized()
    assert not OmegaConf.has_resolver("now")


def test_the_time_may_be_part_of_a_value() -> None:
    (job,) = plan(["outputs=runs-${now:%Y}"])
    assert job.values["outputs"].startswith("runs-20")


def test_a_choice_that_is_not_there_is_hydras_error() -> None:
    with pytest.raises(HydraException, match="our"):
        plan(["method=our"])
    with pytest.raises(HydraException, match="cutof"):
        plan(["cutof=0.5"])


def test_a_value_that_is_missing_is_named() -> None:
    with pytest.raises(ConfigError, match=r"dataset\.path"):
        plan(["dataset=csv"])
    (job,) = plan(["dataset=csv", "dataset.path=a.csv", "dataset.target=y"])
    assert job.values["dataset"]["path"] == "a.csv"


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nowhere"):
        plan([], [tmp_path / "nowhere"])


def test_other_sweepers_are_refused(tmp_path: Path) -> None:
    own_folder(tmp_path, "hydra/sweeper/other", "_target_: other.Sweeper\n")
    with pytest.raises(ConfigError, match="the project's own"):
        plan(["hydra/sweeper=other"], [tmp_path])

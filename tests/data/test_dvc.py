"""dvc.yaml in a copy of the project: a run fetches, a second one does nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from omegaconf import OmegaConf

from pipeline.data.sources.settings import RAW, Settings
from pipeline.data.sources.table import raw_path
from pipeline.data.spec import dataset_names, read_spec

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
PARTS = ("conf", "pipeline", ".dvc/config", "dvc.yaml", "dvc.lock", ".dvcignore", ".gitignore")


def test_every_dataset_has_a_stage_and_a_pinned_hash() -> None:
    assert list(OmegaConf.load(ROOT / "conf" / "repro.yaml").datasets) == dataset_names()
    lock = OmegaConf.load(ROOT / "dvc.lock").stages
    for name in dataset_names():
        (out,) = lock[f"fetch@{name}"].outs
        assert out.path == f"data/raw/{name}.parquet"
        assert len(out.md5) == 32


def test_a_second_table_has_a_stage_of_its_own() -> None:
    tables = {name: tables_of(name) for name in dataset_names()}
    wanted = {name: stated for name, (inferred, stated) in tables.items() if stated != inferred}
    assert dict(OmegaConf.load(ROOT / "conf" / "repro.yaml").second_tables) == wanted


def tables_of(name: str) -> list[str]:
    return [read_spec(name).recipe(protocol).table for protocol in ("inferred", "stated")]


@pytest.mark.parametrize("name", dataset_names())
def test_every_table_that_a_protocol_needs_is_pinned(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(RAW)
    lock = OmegaConf.to_container(OmegaConf.load(ROOT / "dvc.lock").stages)
    assert isinstance(lock, dict)
    stages = {"inferred": lock[f"fetch@{name}"], "stated": lock.get(f"fetch_stated@{name}")}
    spec = read_spec(name)
    for protocol, recipe in spec.protocols.items():
        path = raw_path(recipe.table, spec.tables[recipe.table], Settings.of())
        stage = stages[protocol] or stages["inferred"]
        assert [out["path"] for out in stage["outs"]] == [str(path)]
        tables = stage["params"][f"conf/dataset/{name}.yaml"]["tables"]
        assert tables == OmegaConf.to_container(
            OmegaConf.load(ROOT / f"conf/dataset/{name}.yaml").tables
        )


def test_no_remote_no_analytics_and_no_data_in_git() -> None:
    config = (ROOT / ".dvc" / "config").read_text()
    assert "remote" not in config
    assert "analytics = false" in config
    assert "/data/" in (ROOT / ".gitignore").read_text().splitlines()


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    folder = tmp_path / "clone"
    for part in PARTS:
        source, target = ROOT / part, folder / part
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    subprocess.run(["git", "init", "--quiet", str(folder)], check=True)
    return folder


@pytest.mark.slow
def test_repro_fetches_all_ten_offline_once_and_to_the_pinned_hash(clone: Path) -> None:
    path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "DVC_NO_ANALYTICS": "1"}
    environment.pop(RAW)
    environment["all_proxy"] = "http://127.0.0.1:9"  # nobody there: it needs no network
    lock = (clone / "dvc.lock").read_text()

    def repro() -> str:
        command = [str(BIN / "dvc"), "repro", "fetch", "fetch_stated"]
        done = subprocess.run(
            command, cwd=clone, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert "Running stage 'fetch@blood'" in repro()
    names = {path.stem for path in (clone / "data" / "raw").iterdir()}
    assert names == {*dataset_names(), "bank_full", "compas_scores"}
    assert "Running" not in repro()
    assert (clone / "dvc.lock").read_text() == lock
    tracked = subprocess.run(
        ["git", "-C", str(clone), "status", "--porcelain", "--untracked-files=all", "data"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert tracked.stdout == ""

"""A method of the user's own: two files in a folder of theirs, as docs/methods.md says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from pipeline.cells.errors import ConfigError
from pipeline.cells.own_method import find_method
from pipeline.cells.read import make_cell
from pipeline.core.methods.baselines import Margin
from pipeline.core.methods.checks import CHECKS
from pipeline.sweeps.plan import plan
from tests.commands import ROOT, run

TEXT = (ROOT / "docs" / "methods.md").read_text()
SOURCE, TESTS = re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)
YAML = re.findall(r"```yaml\n(.*?)```", TEXT, flags=re.DOTALL)[0]
SMALL = ("splits=2", "alpha=[0.1,1]", "n_jobs=2")


def drop(folder: Path, name: str = "my_method", source: str | None = SOURCE) -> Path:
    """Put a method into a user's folder; without its Python file if there is no source."""
    (folder / "method").mkdir(parents=True, exist_ok=True)
    (folder / "method" / f"{name}.yaml").write_text(YAML.replace("my_method", name))
    if source is not None:
        (folder / "method" / f"{name}.py").write_text(source.replace("my_method", name))
    return folder


def numbers(done: subprocess.CompletedProcess[str], folder: Path) -> pd.DataFrame:
    return pd.read_csv(folder / re.findall(r"numbers: +(\S+)", done.stdout)[0])


def test_it_is_swept_beside_ours(tmp_path: Path) -> None:
    drop(tmp_path / "mine")
    done = run(tmp_path / "o", "--config-dir", "mine", "-m", "method=ours,my_method", *SMALL)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^ +ours +my method$", done.stdout, flags=re.MULTILINE)
    table = numbers(done, tmp_path)
    assert list(table["method"]) == ["ours", "my_method"]
    assert table["loss"].nunique() == 2
    inside = [path for folder in ("conf", "pipeline") for path in (ROOT / folder).rglob("my_*")]
    assert inside == []


def test_search_paths_of_folders_and_packages(tmp_path: Path) -> None:
    drop(tmp_path / "mine")
    drop(tmp_path / "their_package" / "conf", "theirs")
    places = "hydra.searchpath=[file://mine,pkg://their_package.conf]"
    done = run(tmp_path / "o", "-m", places, "method=my_method,theirs", *SMALL)
    assert done.returncode == 0, done.stderr
    table = numbers(done, tmp_path)
    assert list(table["method"]) == ["my_method", "theirs"]
    assert table["loss"].nunique() == 1  # the same code


def test_each_mistake_is_one_line_and_the_others_go_on(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    drop(mine)
    drop(mine, "lost", None)
    drop(mine, "broken", "class MyMethod(:\n")
    drop(mine, "silent", SOURCE.replace("my_method", "another"))
    drop(mine, "margin")
    names = "method=my_method,lost,broken,silent,margin"
    done = run(tmp_path / "o", "--config-dir", "mine", "-m", names, *SMALL)
    assert done.returncode == 1
    failed = done.stdout.partition("4 failed:")[2]
    folder = mine / "method"
    for line in (
        f"method 'lost' is unknown: there is no file {folder}/lost.py",
        f"{folder}/broken.py: SyntaxError: invalid syntax (broken.py, line 1)",
        f"{folder}/silent.py: registers no method of the name 'silent' (name = \"silent\")",
        f"{folder}/margin.py: method 'margin' is defined in {Margin.__module__} already",
    ):
        assert failed.count(f"FAILED: {line}") == 1, failed
    assert list(numbers(done, tmp_path).query("state == 'computed'")["method"]) == ["my_method"]


def test_a_single_mistake_is_refused_at_once(tmp_path: Path) -> None:
    drop(tmp_path / "mine", "lost", None)
    done = run(tmp_path / "o", "--config-dir", "mine", "method=lost")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("pipeline.run: method 'lost' is unknown: there is no file ")
    assert len(done.stderr.splitlines()) == 1


def test_parameters_come_from_the_yaml_and_the_command_line(tmp_path: Path) -> None:
    mine = drop(tmp_path)
    chosen = ["method=my_method", "method.power=0.25,0.75"]
    jobs = plan(chosen, [mine])
    cells = [make_cell(job.values, job.config_dirs) for job in jobs]
    assert [vars(cell.method)["power"] for cell in cells] == [0.25, 0.75]
    assert {cell.method_file for cell in cells} == {mine / "method" / "my_method.py"}
    (method, _) = find_method({"name": "my_method"}, [mine])
    assert vars(method)["power"] == 0.5
    with pytest.raises(ConfigError, match=r"method\.powr: .* did you mean 'power'"):
        find_method({"name": "my_method", "powr": 1.0}, [mine])


def test_a_relative_search_path_starts_where_the_command_was_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drop(tmp_path / "odd #name")
    monkeypatch.chdir(tmp_path)
    (job,) = plan(["hydra.searchpath=['file://odd #name']", "method=my_method"])
    monkeypatch.chdir("/")
    assert job.config_dirs == [tmp_path / "odd #name"]
    assert make_cell(job.values, job.config_dirs).method.name == "my_method"


def test_a_package_that_is_not_there_is_no_folder() -> None:
    with pytest.warns(UserWarning, match="not available"):
        (job,) = plan(["hydra.searchpath=[pkg://no_such_package.conf]"])
    assert job.config_dirs == []


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (SOURCE, f"{len(CHECKS)} passed"),
        (SOURCE.replace("uses_width = True", ""), "is NaN in round 1; if it reads the width, set"),
    ],
)
def test_its_author_runs_the_checks_of_the_project(tmp_path: Path, source: str, says: str) -> None:
    folder = drop(tmp_path, source=source) / "method"
    (folder / "test_my_method.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", folder]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert says in done.stdout, done.stdout
    assert set(re.findall(r"`(\w+)`", TEXT)) >= {check.__name__ for check in CHECKS}

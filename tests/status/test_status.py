"""``python -m pipeline.status`` against run folders made for it."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.cells.cell import Cell
from pipeline.cells.identity import folder_of, identity_of
from pipeline.cells.read import make_cell
from pipeline.files import write_json
from pipeline.results.runs import ENVIRONMENT, RunFolder, find_runs
from pipeline.status.__main__ import main
from pipeline.sweeps.plan import plan
from tests.cells.configs import SMALL, places, run_listed
from tests.results.made_up import made_up

SWEEP = ("dataset=blood", "link=linear,logistic", "cutoff=0.5,0.7", "method=greedy,margin,ours")


def cells_of(*overrides: str) -> list[Cell]:
    return [make_cell(job.values, job.config_dirs) for job in plan([*overrides, *SMALL])]


def folder(cell: Cell, outputs: Path) -> RunFolder:
    return folder_of(cell, identity_of(cell, places(outputs).data), outputs)


def pretend(outputs: Path, cells: list[Cell], failure: str | None = None) -> None:
    """Write run folders, as if the cells had been run."""
    for cell in cells:
        if failure is None:
            folder(cell, outputs).save(made_up(), "", {}, 1.0)
        else:
            folder(cell, outputs).fail("", failure, "")


def status(outputs: Path, *overrides: str) -> int:
    return main([*overrides, *SMALL, f"outputs={outputs}"])


def jobs_of(command: str) -> set[tuple[str, ...]]:
    """Return the cells of a printed command."""
    words = shlex.split(command)
    assert words[:4] == ["python", "-m", "pipeline.run", "-m"]
    dirs = [Path(words[5])] if words[4] == "--config-dir" else []
    found = plan(words[6:] if dirs else words[4:], dirs)
    return {tuple(make_cell(j.values, j.config_dirs).labels.values()) for j in found}


def labels(cells: list[Cell]) -> set[tuple[str, ...]]:
    return {tuple(cell.labels.values()) for cell in cells}


def last_line(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().out.splitlines()[-1].strip()


def test_every_cell_has_its_mark(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cells = cells_of(*SWEEP)
    linear = [cell for cell in cells if cell.link == "linear"]
    pretend(tmp_path, linear[:4])
    pretend(tmp_path, linear[4:5], failure="the sky fell")
    assert status(tmp_path, *SWEEP) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "blood, linear link, protocol inferred: 4 of 6 done"
    assert lines[1].split() == ["greedy", "margin", "ours"]
    assert lines[2].split() == ["50%", "✓", "✓", "✓"]
    assert lines[3].split() == ["70%", "✓", "✗", "·"]
    assert lines[5] == "blood, logistic link, protocol inferred: 0 of 6 done"
    assert "12 cells: 4 done, 1 failed, 7 missing" in lines
    assert "  blood linear 70% margin FAILED: the sky fell" in lines
    assert not any("\033" in line for line in lines)


def test_the_command_covers_the_gaps_and_no_other_value(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cells = cells_of(*SWEEP)
    gaps = [c for c in cells if c.link == "logistic" and c.method.name != "greedy"]
    pretend(tmp_path, [cell for cell in cells if cell not in gaps])
    assert status(tmp_path, *SWEEP, "force=true") == 1
    command = last_line(capsys)
    assert jobs_of(command) == labels(gaps)
    words = shlex.split(command)
    assert "method=margin,ours" in words
    assert "link=logistic" in words
    assert "cutoff=0.5,0.7" in words  # untouched
    assert not any(word.startswith("force") for word in words)


def test_values_of_an_experiment_are_narrowed_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cells = cells_of("experiment=smoke")
    gaps = [c for c in cells if c.dataset_label == "diabetes" and c.cutoff.label == "0.7"]
    pretend(tmp_path, [cell for cell in cells if cell not in gaps])
    assert status(tmp_path, "experiment=smoke") == 1
    command = last_line(capsys)
    assert jobs_of(command) == labels(gaps)
    assert "experiment=smoke" in command
    assert "method=" not in command


def test_the_printed_command_completes_the_sweep(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sweep = ("dataset=blood", "method=greedy,ours")
    cells = cells_of(*sweep)
    run_listed(cells[:1], places(tmp_path))
    assert status(tmp_path, *sweep) == 1
    words = shlex.split(last_line(capsys))[4:]
    found = [make_cell(job.values, job.config_dirs) for job in plan(words)]
    run_listed(found, places(tmp_path))
    assert status(tmp_path, *sweep) == 0
    assert last_line(capsys) == "nothing is missing"


def test_several_jobs_of_one_cell_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sweep = ("dataset=blood", "seed=0,1,2")
    pretend(tmp_path, cells_of(*sweep)[:2])
    assert status(tmp_path, *sweep) == 1
    out = capsys.readouterr().out
    assert "2/3·" in out
    assert "seed=2" in out.splitlines()[-1]


def test_a_dataset_that_is_not_there_is_missing_for_a_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = ("dataset=csv", f"dataset.path={tmp_path / 'loans.csv'}", "dataset.target=y")
    assert status(tmp_path, *own, "method=greedy,ours") == 1
    out = capsys.readouterr().out
    assert "2 cells: 2 missing" in out
    assert sum(line.startswith("  dataset loans: ") for line in out.splitlines()) == 1


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (["method=our"], "did you mean 'ours'"),
        (["cutoff=1.5"], "cutoff=1.5 is not a quantile"),
        (["dataset=csv"], "dataset.path"),
        (["cutof=0.5"], "did you mean 'cutoff'"),
        (["foo"], "missing EQUAL"),
        (["alpha=[0.1"], "[0.1"),
        (["dataset=glm", "dataset.path=x"], "dataset=glm has no key 'dataset.path'"),
        (["data.offline=no"], "data.offline=no is neither true nor false"),
    ],
)
def test_nonsense_is_refused_in_one_line(
    overrides: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status(tmp_path, *overrides) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert said in err


def test_a_method_of_ones_own_is_in_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    method = tmp_path / "mine" / "method"
    method.mkdir(parents=True)
    (method / "fading.yaml").write_text("name: fading\n")
    (method / "fading.py").write_text(
        "from dataclasses import dataclass\n"
        "from pipeline.core.methods.base import Method, register\n"
        "@register\n@dataclass(frozen=True)\nclass Fading(Method):\n"
        "    name = 'fading'\n"
        "    @staticmethod\n    def bonus(t, alpha, score, width, draws):\n"
        "        return alpha / t\n"
    )
    pretend(tmp_path, cells_of("dataset=blood"))
    own = ("dataset=blood", "method=ours,fading", "--config-dir", str(method.parent))
    assert status(tmp_path, *own) == 1
    command = last_line(capsys)
    assert jobs_of(command) == {("inferred", "blood", "linear", "0.5", "fading")}


def test_without_a_sweep_all_runs_are_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cells = cells_of("dataset=blood", "method=greedy,ours", "cutoff=0.5,0.7")
    run_listed(cells, places(tmp_path))
    run_listed(cells_of("dataset=blood", "method=ours", "seed=5"), places(tmp_path))
    old = folder(cells[0], tmp_path).path
    environment = json.loads((old / ENVIRONMENT).read_text())
    write_json(old / ENVIRONMENT, {**environment, "engine": "another"})
    assert main([f"outputs={tmp_path}"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(list(find_runs(tmp_path))) == 5
    assert lines[1].split() == ["greedy", "ours"]
    assert lines[2].split() == ["50%", "~", "2/2✓"]
    assert lines[3].split() == ["70%", "✓", "✓"]
    assert "5 runs: 4 done, 0 failed" in lines
    assert any(line.startswith("1 runs are of another engine or method") for line in lines)
    assert any(line.startswith("1 cells have several runs") for line in lines)


def test_without_a_sweep_failures_are_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = cells_of("dataset=glm", "dataset.n=200", "protocol.initial={share: null, count: 500}")
    run_listed(bad, places(tmp_path))
    assert main([f"outputs={tmp_path}"]) == 1
    out = capsys.readouterr().out
    assert "1 runs: 0 done, 1 failed" in out
    assert "glm linear 50% ours FAILED: " in out


def test_no_runs_at_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([f"outputs={tmp_path}"]) == 1
    assert "there are no runs" in capsys.readouterr().out


def test_the_command_line_asks_no_tracking(tmp_path: Path) -> None:
    code = (
        "import sys; from pipeline.status.__main__ import main; "
        f"assert main(['experiment=smoke', 'outputs={tmp_path}']) == 1; "
        "assert 'mlflow' not in sys.modules; assert 'joblib' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)

"""``dvc repro`` in copies of the project: things are changed, broken off, taken away."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import paper_quick
import pytest

from pipeline.paper.collection import CELLS, CURVES, LOSSES
from tests import commands
from tests.faults import Point
from tests.test_dvc import PAPER as WHOLE
from tests.test_dvc import REPORTED, ROOT, SWEEPS

# The report and with it the theory are left out: scripts/paper_quick.py runs them, they take long.
PAPER = tuple(stage for stage in WHOLE if stage != "report")
SMALL: paper_quick.Changes = {
    **paper_quick.THEORY,
    "repro.yaml": {"datasets": ["blood"], "second_tables": {"bank": "bank_full"}},
    "experiment/paper.yaml": {
        "hydra.sweeper.params.dataset": "blood",
        "hydra.sweeper.params.cutoff": "0.5,0.7",
    },
    "config.yaml": {"alpha": [0.25, 1.0]},
}
CELLS_OF = {"linear": 14, "logistic": 14, "stated": 28, "fresh": 28}  # cutoffs × methods × links


def repro(folder: Path, *arguments: str) -> str:
    """Run ``dvc repro`` in a workspace; return all it said."""
    done = subprocess.run(
        paper_quick.dvc(folder, "repro", *arguments),
        env=paper_quick.environment(folder),
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    return done.stdout


def ran(said: str) -> set[str]:
    return set(re.findall(r"^Running stage '(.+)':", said, flags=re.MULTILINE))


def computed(said: str) -> dict[str, int]:
    """Return the number of cells that each sweep computed."""
    found = re.findall(r"(\d+) computed now.*?\ngathered: outputs/paper/(\w+)", said)
    return {name: int(number) for number, name in found}


def status(folder: Path, *stages: str) -> str:
    done = subprocess.run(
        paper_quick.dvc(folder, "status", *stages), env=paper_quick.environment(folder),
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert text.count(old) == 1
    file.write_text(text.replace(old, new))


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    paper_quick.make_workspace(tmp_path / "copy", SMALL)
    return tmp_path / "copy"


@pytest.mark.slow
def test_only_what_depends_on_a_change_is_computed_again(workspace: Path) -> None:
    said = repro(workspace, *PAPER)
    fetching = {"fetch@blood", "fetch_stated@bank"}
    assert ran(said) == fetching | set(SWEEPS) | set(PAPER)
    assert computed(said) == CELLS_OF
    assert "up to date" in status(workspace, *PAPER)
    assert ran(repro(workspace, *PAPER)) == set()

    methods = workspace / "pipeline" / "core" / "methods"
    before = commands.results(workspace / "outputs")
    edit(methods / "ours.py", "return alpha * width", "return 2.0 * alpha * width")
    said = repro(workspace, *PAPER)
    assert ran(said) == set(SWEEPS) | set(PAPER)
    assert computed(said) == {name: number // 7 for name, number in CELLS_OF.items()}
    after = commands.results(workspace / "outputs")
    new = {path.split("/")[5] for path in after.keys() - before.keys()}
    assert new == {"ours"}
    assert before.items() <= after.items()

    with (methods / "greedy.py").open("a") as file:
        file.write("# Better words.\n")
    said = repro(workspace, *PAPER)
    assert ran(said) == set(SWEEPS)  # same results: nothing that reads them runs
    assert computed(said) == dict.fromkeys(CELLS_OF, 0)

    with (workspace / "pipeline" / "paper" / "gaps.py").open("a") as file:
        file.write("# Better words.\n")
    assert ran(repro(workspace, "tables")) == {"tables"}


@pytest.mark.slow
def test_a_sweep_uses_the_tables_that_were_fetched(workspace: Path) -> None:
    repro(workspace, "sweep@linear")
    for file in (workspace / "outputs" / "runs").rglob("environment.json"):
        assert '"source": "data/raw"' in file.read_text()
    shutil.rmtree(workspace / "outputs")
    (workspace / "data" / "raw" / "blood.parquet").unlink()
    done = subprocess.run(
        paper_quick.dvc(workspace, "repro", "--single-item", "sweep@linear"),
        env=paper_quick.environment(workspace), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode != 0
    assert "there is no data/raw/blood.parquet" in done.stderr


@pytest.mark.slow
def test_a_single_stage_runs_what_it_needs_and_leaves_to_git_what_is_small(workspace: Path) -> None:
    for name in (".gitignore", ".dvc/config", ".dvc/.gitignore"):
        shutil.copy(ROOT / name, workspace / name)
    subprocess.run(["git", "init", "--quiet", str(workspace)], check=True)
    said = repro(workspace, "compare")
    assert ran(said) == {"fetch@blood", "fetch_stated@bank", *REPORTED, "compare"}
    untracked = ["git", "ls-files", "--others", "--exclude-standard", "outputs", "data"]
    listed = subprocess.run(untracked, cwd=workspace, capture_output=True, text=True, check=True)
    small = [*(workspace / "outputs/paper/compare").iterdir()]
    small += [workspace / f"outputs/paper/{name}/{CELLS}" for name in ("linear", "logistic")]
    assert set(listed.stdout.split()) == {str(file.relative_to(workspace)) for file in small}


COLLECTED = [f"outputs/paper/linear/{name}" for name in (CELLS, LOSSES, CURVES)]


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("whole") / "copy"
    paper_quick.make_workspace(folder, SMALL)
    repro(folder, "sweep@linear")
    yield folder
    shutil.rmtree(folder)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT], ids=lambda number: number.name)
def test_a_sweep_that_was_broken_off_goes_on(
    number: signal.Signals, tmp_path: Path, uninterrupted: Path
) -> None:
    folder = tmp_path / "copy"
    outputs = folder / "outputs"
    paper_quick.make_workspace(folder, SMALL)
    environment = paper_quick.environment(folder)
    point = Point(tmp_path / "point", "status.json", after=3)
    process = commands.start_command(
        paper_quick.dvc(folder, "repro", "sweep@linear"),
        folder,
        {**environment, **point.environment(environment.get("PYTHONPATH", ""))},
    )
    held = lambda: commands.n_done(outputs) > 2 and bool(point.held)  # noqa: E731
    assert commands.wait_for(held, process), process.communicate()
    commands.kill_group(process, number)
    assert commands.end(process).returncode != 0
    commands.assert_gone(process)
    kept = commands.n_done(outputs)
    assert 2 < kept < CELLS_OF["linear"]

    said = repro(folder, "sweep@linear")
    assert computed(said) == {"linear": CELLS_OF["linear"] - kept}
    assert commands.results(outputs) == commands.results(uninterrupted / "outputs")
    for name in COLLECTED:
        assert (folder / name).read_bytes() == (uninterrupted / name).read_bytes()
    assert ran(repro(folder, "sweep@linear")) == set()

"""What was computed is not computed again; what is stale or damaged is never read."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pipeline.cells.compute
import pipeline.cells.identity
from pipeline.cells import problem
from pipeline.cells.identity import folder_of, identity_of
from pipeline.cells.read import make_cell, places_of
from pipeline.results.journal import Run
from pipeline.sweeps.warm import warm_up
from tests import commands
from tests.cells.configs import SMALL, run_one, values

TINY = (*SMALL, "dataset=blood", "splits=1")
CSV = ("dataset=csv", "dataset.target=y", "splits=2", "alpha=1", "tracking=none")
RunJob = Callable[..., Run]


class Counted:
    """The engine, with a count of its calls."""

    def __init__(self) -> None:
        self.simulate = pipeline.cells.compute.simulate
        self.calls = 0

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        self.calls += 1
        return self.simulate(*arguments, **options)


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Counted:
    counted = Counted()
    monkeypatch.setattr(pipeline.cells.compute, "simulate", counted)
    return counted


@pytest.fixture
def job(tmp_path: Path) -> RunJob:
    """Run a job as a worker does, in this process."""

    def run(*overrides: str, outputs: Path = tmp_path / "outputs") -> Run:
        return run_one(*overrides, f"outputs={outputs}")

    return run


def folder_name(*overrides: str) -> str:
    composed = values(*overrides)
    cell, places = make_cell(composed), places_of(composed)
    return folder_of(cell, identity_of(cell, places.data), places.outputs).path.name


def files_of(entry: Run) -> dict[str, bytes]:
    assert entry.folder is not None
    found = sorted(Path(entry.folder).iterdir())
    return {file.name: file.read_bytes() for file in found if file.name != "status.json"}


def test_the_same_config_is_kept_and_nothing_computed(job: RunJob, engine: Counted) -> None:
    first = job(*TINY)
    assert (first.state, engine.calls) == ("computed", 1)
    before = files_of(first)
    second = job(*TINY)
    assert (second.state, engine.calls) == ("kept", 1)
    assert second.summary == first.summary
    assert files_of(second) == before


def test_force_computes_the_same_again(job: RunJob, engine: Counted) -> None:
    before = files_of(job(*TINY))
    again = job(*TINY, "force=true")
    assert (again.state, engine.calls) == ("computed", 2)
    assert files_of(again) == before


@pytest.mark.parametrize(
    "change",
    [
        "cutoff=0.6",
        "cutoff_value=0.25",
        "link=logistic",
        "method=margin",
        "protocol=stated",
        "seed=1",
        "splits=2",
        "splits=[1]",
        "alpha=[0.1,2]",
        "alpha=0.1",
        "alpha=grid",
        "curve_points=10",
        "protocol.model.l2=2.0",
        "protocol.model.fit_intercept=false",
        "protocol.truth.l2=1.0",
        "protocol.batch_size=50",
        "protocol.delay=5",
        "protocol.time=rounds",
        "protocol.draws=shared",
        "protocol.initial.count=40",
        "dataset.protocols.inferred.intercept=false",
        "dataset.protocols.inferred.expect.sha256=another",
    ],
)
def test_what_changes_a_figure_changes_the_folder(change: str) -> None:
    assert folder_name(*TINY) != folder_name(*TINY, change)


@pytest.mark.parametrize(
    "change",
    [
        "n_jobs=2",
        "threads=2",
        "force=true",
        "tracking=mlflow",
        "outputs=elsewhere",
        "data.mirror=elsewhere",
        "data.cache=elsewhere",
        "data.offline=true",
        "alpha=[1,0.1]",
        "splits=[0]",
        "cutoff=0.50",
        "hydra/launcher=basic",
    ],
)
def test_what_changes_no_figure_does_not(change: str) -> None:
    assert folder_name(*TINY) == folder_name(*TINY, change)


def test_a_changed_setting_is_computed_and_the_first_one_still_there(
    job: RunJob, engine: Counted
) -> None:
    first, other = job(*TINY), job(*TINY, "protocol.model.l2=50.0")
    assert (other.state, engine.calls) == ("computed", 2)
    assert other.summary != first.summary
    assert job(*TINY).summary == first.summary
    assert engine.calls == 2


def write_table(path: Path, first: str = "0.5") -> Path:
    lines = [
        f"{(7 * k) % 40 / 40},{(11 * k) % 30 / 30},{int((7 * k) % 40 > 20)}" for k in range(80)
    ]
    lines[0] = f"{first},0.25,1"
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(["a,b,y", *lines]) + "\n")
    return path


def test_one_changed_value_of_a_table_is_computed_again(
    job: RunJob, engine: Counted, tmp_path: Path
) -> None:
    table = write_table(tmp_path / "loans.csv")
    first = job(*CSV, f"dataset.path={table}")
    write_table(table, "0.7")
    second = job(*CSV, f"dataset.path={table}")
    assert (second.state, engine.calls) == ("computed", 2)
    assert second.folder != first.folder
    write_table(table)
    assert job(*CSV, f"dataset.path={table}").folder == first.folder
    moved = write_table(tmp_path / "elsewhere" / "loans.csv")
    assert job(*CSV, f"dataset.path={moved}").state == "kept"
    assert engine.calls == 2


def test_a_table_changed_behind_its_time_stamp_is_computed_again(
    job: RunJob, tmp_path: Path
) -> None:
    table = write_table(tmp_path / "loans.csv")
    before = table.stat()
    first = job(*CSV, f"dataset.path={table}")
    write_table(table, "0.7")
    os.utime(table, ns=(before.st_atime_ns, before.st_mtime_ns))  # as rsync -t does
    assert table.stat().st_size == before.st_size
    assert job(*CSV, f"dataset.path={table}").folder != first.folder


def test_an_intercept_is_not_taken_from_the_job_before(
    job: RunJob, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = write_table(tmp_path / "loans.csv")
    options = (*CSV, f"dataset.path={table}")
    with_intercept = job(*options)
    after = job(*options, "dataset.intercept=false")
    monkeypatch.setattr(problem, "_PROBLEMS", problem.Recent(2))
    alone = job(*options, "dataset.intercept=false", outputs=tmp_path / "alone")
    assert after.summary == alone.summary
    assert after.summary != with_intercept.summary


def test_a_changed_engine_is_computed_again(
    job: RunJob, engine: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = job(*TINY)
    monkeypatch.setattr(pipeline.cells.identity, "ENGINE", "another")
    second = job(*TINY)
    assert (second.state, engine.calls) == ("computed", 2)
    assert second.folder != first.folder


DAMAGES: dict[str, Callable[[Path], object]] = {
    "missing": Path.unlink,
    "empty": lambda file: file.write_bytes(b""),
    "cut off": lambda file: file.write_bytes(file.read_bytes()[:-5]),
    "one bit": lambda file: file.write_bytes(_flipped(file.read_bytes())),
}


def _flipped(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, tuple[str, ...]]:
    """Return the folder of outputs with one finished run that has files of all kinds."""
    folder = tmp_path_factory.mktemp("finished")
    lines = write_table(folder / "loans.csv").read_text().splitlines()
    grouped = [f"{line},{'group' if not k else 'AB'[k % 2]}" for k, line in enumerate(lines)]
    (folder / "loans.csv").write_text("\n".join(grouped) + "\n")
    return folder, (*CSV, f"dataset.path={folder / 'loans.csv'}", "dataset.group=group")


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize(
    "name",
    ["config.yaml", "summary.json", "losses.parquet", "curves.parquet", "groups.parquet"],
)
def test_a_damaged_result_is_computed_again(
    name: str, damage: str, finished: tuple[Path, tuple[str, ...]], job: RunJob
) -> None:
    folder, options = finished
    entry = job(*options, outputs=folder / "outputs")
    before = files_of(entry)
    DAMAGES[damage](Path(str(entry.folder)) / name)
    assert_mended(job, options, folder / "outputs", before)


@pytest.mark.parametrize("name", ["environment.json", "status.json"])
def test_a_missing_file_is_computed_again(
    name: str, finished: tuple[Path, tuple[str, ...]], job: RunJob
) -> None:
    folder, options = finished
    entry = job(*options, outputs=folder / "outputs")
    before = files_of(entry)
    (Path(str(entry.folder)) / name).unlink()
    assert_mended(job, options, folder / "outputs", before)


@pytest.mark.parametrize(
    "text",
    [b"", b"{", b"[]", b"3", b"\xff\xfe", b"{}", b'{"state": 3}', b'{"state": "done"}',
     b'{"state": "done", "files": []}', b'{"state": "done", "files": {"losses.parquet": null}}'],
)  # fmt: skip
def test_a_damaged_status_is_no_result(
    text: bytes, finished: tuple[Path, tuple[str, ...]], job: RunJob
) -> None:
    folder, options = finished
    entry = job(*options, outputs=folder / "outputs")
    before = files_of(entry)
    (Path(str(entry.folder)) / "status.json").write_bytes(text)
    assert_mended(job, options, folder / "outputs", before)


def test_an_empty_folder_is_no_result(finished: tuple[Path, tuple[str, ...]], job: RunJob) -> None:
    folder, options = finished
    entry = job(*options, outputs=folder / "outputs")
    before = files_of(entry)
    shutil.rmtree(str(entry.folder))
    Path(str(entry.folder)).mkdir()
    assert_mended(job, options, folder / "outputs", before)


def assert_mended(
    job: RunJob, options: tuple[str, ...], outputs: Path, before: dict[str, bytes]
) -> None:
    mended = job(*options, outputs=outputs)
    assert (mended.state, mended.reason) == ("computed", None)
    assert files_of(mended) == before
    assert job(*options, outputs=outputs).state == "kept"


def test_parts_of_killed_processes_disturb_nobody_and_go_when_old(job: RunJob) -> None:
    folder = Path(str(job(*TINY).folder))
    young, old = folder / ".losses.parquet.a.part", folder / ".summary.json.b.part"
    for part in (young, old):
        part.write_bytes(b"PAR1 and no more")
    os.utime(old, (time.time() - 4000, time.time() - 4000))
    assert job(*TINY).state == "kept"
    assert young.exists()  # somebody may be writing it at this very moment
    assert not old.exists()


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the project, compiled kernels included."""
    warm_up()
    root = tmp_path_factory.mktemp("copy")
    for name in ("pipeline", "conf"):
        shutil.copytree(commands.ROOT / name, root / name)
    return root


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert text.count(old) == 1
    file.write_text(text.replace(old, new))


def test_a_changed_method_invalidates_itself_only_and_words_nothing(
    copy: Path, tmp_path: Path, job: RunJob
) -> None:
    outputs = tmp_path / "outputs"
    before = {name: job(*TINY, f"method={name}", outputs=outputs) for name in ("ours", "margin")}
    methods = copy / "pipeline" / "core" / "methods"
    edit(
        methods / "baselines.py", "return alpha / math.sqrt(t)", "return 2.0 * alpha / math.sqrt(t)"
    )
    edit(methods / "ours.py", "Return alpha·width.", "Return alpha times width.")
    edit(copy / "pipeline" / "core" / "tuning.py", "from __future__", "# Why.\nfrom __future__")
    edit(copy / "pipeline" / "core" / "validation.py", "the same row twice", "a row twice")
    done = commands.run(outputs, "-m", *TINY, "method=ours,margin", "n_jobs=1", root=copy)
    assert done.returncode == 0, done.stderr
    assert re.search(r" ours .* kept$", done.stderr, flags=re.MULTILINE)
    assert re.search(r" margin .* s$", done.stderr, flags=re.MULTILINE)
    for name, entry in before.items():
        found = [folder.name for folder in Path(str(entry.folder)).parent.iterdir()]
        assert len(found) == (2 if name == "margin" else 1)


def test_a_flipped_setting_is_computed_again(copy: Path, tmp_path: Path, job: RunJob) -> None:
    outputs = tmp_path / "outputs"
    before = Path(str(job(*TINY, outputs=outputs).folder))
    edit(copy / "pipeline" / "cells" / "cell.py", '"] = intercept', '"] = not intercept')
    done = commands.run(outputs, *TINY, root=copy)
    assert done.returncode == 0, done.stderr
    assert len(list(before.parent.iterdir())) == 2

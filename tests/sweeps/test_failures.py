"""What goes wrong is said in one line, stays alone, and is mended by the same command."""

from __future__ import annotations

import errno
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hydra.core.global_hydra import GlobalHydra

import pipeline.results.outcome
from pipeline.results.journal import Run
from pipeline.results.runs import RunFolder
from pipeline.run import FAILED, REFUSED, main
from tests import commands
from tests.cells.configs import SMALL, run_one

TINY = (*SMALL, "dataset=blood", "splits=1")
Output = pytest.CaptureFixture[str]

METHOD = """
from dataclasses import dataclass
from pipeline.core.methods.base import Method, register

@register
@dataclass(frozen=True)
class Own(Method):
    name = "{name}"

    @property
    def bonus(self):
        {body}
"""
BROKEN = METHOD.format(name="broken", body='raise RuntimeError("my own mistake")')
MENDED = METHOD.format(name="broken", body="return lambda t, alpha, score, width, draws: alpha / t")
UNREADABLE = "def (:\n"


@pytest.fixture(scope="module")
def mine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of methods of one's own: one that raises, one that is no Python."""
    folder = tmp_path_factory.mktemp("mine")
    (folder / "method").mkdir()
    for name, source in (("broken", BROKEN), ("unreadable", UNREADABLE)):
        (folder / "method" / f"{name}.yaml").write_text(f"name: {name}\n")
        (folder / "method" / f"{name}.py").write_text(source)
    return folder


def run_here(method: str, outputs: Path, mine: Path, *more: str) -> Run:
    """Run a job as a worker does, in this process."""
    path = f"hydra.searchpath=[file://{mine}]"
    overrides = (*TINY, f"method={method}", f"outputs={outputs}", path, *more)
    return run_one(*overrides, config_dirs=[mine])


def test_failures_stay_alone_and_are_all_shown(mine: Path, tmp_path: Path) -> None:
    outputs = tmp_path / "outputs"
    methods = "method=broken,ours,unreadable,greedy"
    done = commands.run(outputs, "--config-dir", str(mine), "-m", *TINY, methods, "n_jobs=1")
    assert done.returncode == 1
    assert "Traceback" not in done.stdout + done.stderr
    assert "2 failed:" in done.stdout
    failed = [line for line in done.stdout.splitlines() if "FAILED" in line]
    assert "broken" in failed[0]
    assert "RuntimeError: my own mistake" in failed[0]
    assert "unreadable.py: SyntaxError" in failed[1]
    assert len(failed) == 2
    trace, other = re.findall(r"^ +(\S+traceback.txt)$", done.stdout, flags=re.MULTILINE)
    assert "SyntaxError" in Path(other).read_text()
    assert "my own mistake" in Path(trace).read_text()
    assert RunFolder(Path(trace).parent).state == "failed"
    (mine / "method" / "broken.py").write_text(MENDED)
    states = {name: run_here(name, outputs, mine).state for name in ("broken", "ours", "greedy")}
    assert states == {"broken": "computed", "ours": "kept", "greedy": "kept"}
    (mine / "method" / "broken.py").write_text(BROKEN)


def test_the_same_failure_is_tried_again_and_fails_again(mine: Path, tmp_path: Path) -> None:
    first, second = (run_here("broken", tmp_path, mine) for _ in range(2))
    assert first.state == second.state == "failed"
    assert first.reason == second.reason == "RuntimeError: my own mistake"
    assert first.folder == second.folder


def test_a_forced_failure_does_not_undo_the_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = run_here("ours", tmp_path, tmp_path)
    folder = RunFolder(Path(str(entry.folder)))
    before = folder.outcome().summary

    def fail(*_: Any, **__: Any) -> None:
        raise MemoryError

    monkeypatch.setattr("pipeline.cells.compute.simulate", fail)
    again = run_here("ours", tmp_path, tmp_path, "force=true")
    assert (again.state, again.reason) == (
        "failed",
        "out of memory; run fewer at once with n_jobs=1",
    )
    assert "MemoryError" in (folder.path / "traceback.txt").read_text()
    assert folder.outcome().summary == before


def test_a_disk_that_fills_while_writing_leaves_no_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fill(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "losses.parquet")

    with monkeypatch.context() as patch:
        patch.setattr(pipeline.results.outcome.pq, "write_table", fill)
        entry = run_here("ours", tmp_path, tmp_path)
    assert entry.state == "failed"
    assert re.fullmatch("no space left on the disk at losses.parquet; free .*", str(entry.reason))
    assert not list(tmp_path.rglob("*.part"))
    assert run_here("ours", tmp_path, tmp_path).state == "computed"


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Give a small disk that can be mounted again with other options."""
    folder = tmp_path / "disk"
    folder.mkdir()

    def mount(options: str) -> Path:
        command = ["mount", "-t", "tmpfs", "-o", options, "none", str(folder)]
        try:
            subprocess.run(command, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            pytest.skip("disks cannot be mounted here")
        return folder

    yield mount
    if folder.is_mount():
        subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.slow
def test_a_full_disk(disk: Callable[[str], Path], mine: Path) -> None:
    folder = disk("size=96k")
    sweep = ("-m", *TINY, "method=ours,margin,greedy,noise", "cutoff=0.5,0.7", "n_jobs=1")
    done = commands.run(folder / "outputs", *sweep)
    assert done.returncode == FAILED
    assert "Traceback" not in done.stdout + done.stderr
    failed = commands.said(done.stderr)
    assert failed
    assert all("no space left on the disk" in line for line in failed)
    kept = commands.results(folder / "outputs")
    assert kept
    disk("remount,size=10m")
    assert run_here("noise", folder / "outputs", mine).state == "computed"
    assert kept.items() <= commands.results(folder / "outputs").items()


def command(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """Run the command in this process, for what ends soon."""
    GlobalHydra.instance().clear()
    monkeypatch.setattr(sys, "argv", ["run.py", *arguments, "tracking=none"])
    monkeypatch.delenv("HYDRA_FULL_ERROR", raising=False)
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


@pytest.mark.parametrize("way", ["file", "read-only", "full"])
def test_outputs_that_cannot_be_written(
    way: str,
    disk: Callable[[str], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: Output,
) -> None:
    outputs = tmp_path / "disk" / "outputs"
    if way == "file":
        outputs.write_text("in the way")
    else:
        disk("size=8k,nr_inodes=2" if way == "full" else "ro")
    assert command(monkeypatch, f"outputs={outputs}") == REFUSED
    out, err = capfd.readouterr()
    assert out == ""
    assert re.fullmatch(
        rf"pipeline.run: outputs={re.escape(str(outputs))} cannot be written to \(.*\): .*\n", err
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("method=our", "method=our: there is no such method; did you mean 'ours'?"),
        ("-m method=greedy,our", "method=our: there is no such method; did you mean 'ours'?"),
        ("dataset=blod", "dataset=blod: there is no such dataset; did you mean 'blood'?"),
        ("-m dataset=blod,blood", "dataset=blod: there is no such dataset; did you mean 'blood'?"),
        ("link=logistc", "link=logistc: there is no such link; did you mean 'logistic'?"),
        ("protocol=state", "protocol=state: there is no such protocol; did you mean 'stated'?"),
        ("experiment=tabel1", "there is no such experiment; did you mean 'table1'?"),
        ("cutof=0.5", "there is no config key 'cutof'; did you mean 'cutoff'?"),
        ("data.miror=x", "there is no config key 'data.miror'; did you mean 'data.mirror'?"),
        ("zzz=1", "there is no config key 'zzz'; known: alpha, candidate, curve_points, cutoff, "),
        ("protocol.dely=1", "'protocol.dely'; did you mean 'protocol.delay'?"),
        ("cutoff=1.5", "cutoff=1.5 is not a quantile between 0 and 1; for an absolute cutoff use"),
        ("-m cutoff=0.5,1.5", "cutoff=1.5 is not a quantile between 0 and 1"),
        ("cutoff=0.5 cutoff_value=1", "cutoff (a quantile) and cutoff_value exclude each other"),
        ("alpha=-1", "alpha=-1: alpha must be a number of at least 0"),
        ("-m alpha=1,-1", "alpha=-1: alpha must be a number of at least 0"),
        ("alpha=gird", "alpha=gird is neither grid, nor a number, nor a list of numbers"),
        ("splits=0", "splits=0 is not a whole number of at least 1"),
        ("seed=x", "seed=x is not a whole number of at least 0"),
        ("dataset=csv", "dataset.path is not set: give dataset.path=…"),
        ("n_jobs=0", "n_jobs=0 is neither a number of jobs nor -1 for all cores"),
        ("threads=-1", "threads=-1 is neither null nor a whole number of at least 1"),
        ("force=perhaps", "force=perhaps is neither true nor false"),
        ("data.offline=no", "data.offline=no is neither true nor false"),
        ("-m data.only_raw=false,no", "data.only_raw=no is neither true nor false"),
        ("data.max_bytes=1e6", "data.max_bytes=1000000.0 is not a whole number of at least 1"),
        ("data.timeout=soon", "data.timeout=soon is not a finite number"),
        ("data.time_limit=0", "data.time_limit=0 is not a number of seconds above 0"),
        ("dataset=glm dataset.n=abc", "dataset.n=abc is not a whole number of at least 1"),
        ("-m dataset=glm dataset.seed=0,x", "dataset.seed=x is not a whole number of at least 0"),
        ("dataset=glm dataset.noise=loud", "dataset.noise=loud is not a finite number"),
        ("tracking=none tracking.uri=x", "run: tracking=none has no key 'tracking.uri': leave it "),
        ("-m dataset=diabetes,csv dataset.path=x", "dataset=diabetes has no key 'dataset.path'"),
        ("dataset.path=x", "dataset=diabetes has no key 'dataset.path': leave it out, or choose"),
        ("experiment=rates dataset.path=x", "the chosen dataset has no key 'dataset.path': leave"),
        ("-m dataset=csv dataset.target=y dataset.path=a,b cutoff=1.5", "cutoff=1.5 is not a"),
        ("-m dataset=csv dataset.path=a,b", "dataset.target is not set: give dataset.target=…"),
        ("foo", "missing EQUAL"),
        ("--config-dir nowhere", "Additional config directory"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(
    arguments: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Output
) -> None:
    outputs = tmp_path / "outputs"
    code = command(monkeypatch, *arguments.split(), f"outputs={outputs}")
    out, err = capfd.readouterr()
    assert (code, out) == (REFUSED, "")
    assert said in err
    assert re.fullmatch(r"pipeline\.run: .*\n", err)
    assert not outputs.exists() or not list(outputs.iterdir())


def test_a_missing_table_fails_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Output
) -> None:
    options = (*TINY, "dataset=csv", "dataset.target=y", f"dataset.path={tmp_path / 'no.csv'}")
    assert command(monkeypatch, *options, f"outputs={tmp_path / 'outputs'}") == FAILED
    out, err = capfd.readouterr()
    assert re.fullmatch(r"\[1/1\] .* FAILED: there is no file \S+/no.csv\n", err)
    assert "1 failed:" in out


@pytest.mark.parametrize(
    ("path", "more", "said"),
    [
        ("no.csv", "dataset.target=y", "there is no file"),
        ("table.csv", "dataset.target=z", "there is no column 'z'"),
        ("table.csv", "dataset.target=y dataset.separator=semicolon", "one column only"),
    ],
)
def test_a_table_that_cannot_be_read_is_refused_before_anything_is_compiled(
    path: str, more: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Output
) -> None:
    compiled: list[str] = []
    monkeypatch.setattr("pipeline.sweeps.run.warm_up", lambda: compiled.append("kernels"))
    (tmp_path / "table.csv").write_text("a,y\n1,0\n2,1\n")
    options = (*TINY, "dataset=csv", f"dataset.path={tmp_path / path}", *more.split())
    assert command(monkeypatch, *options, f"outputs={tmp_path / 'outputs'}") == FAILED
    assert said in capfd.readouterr().out
    assert not compiled


def test_a_failure_before_there_is_a_run_folder_leaves_its_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Output
) -> None:
    def fail(*_: Any) -> None:
        raise TypeError("half a number")

    monkeypatch.setattr("pipeline.cells.problem.load_config", fail)
    options = (*TINY, "dataset=glm", f"outputs={tmp_path / 'outputs'}")
    assert command(monkeypatch, *options) == FAILED
    out, _ = capfd.readouterr()
    assert "FAILED: TypeError: half a number" in out
    (file,) = re.findall(r"^ +(\S+/jobs/00000\.traceback\.txt)$", out, flags=re.MULTILINE)
    assert "in fail" in Path(file).read_text()


def test_a_dataset_that_cannot_be_had_fails_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Output
) -> None:
    hidden = [f"data.{name}={tmp_path / name}" for name in ("cache", "mirror")]
    options = (*TINY, "dataset=openml", "dataset.data_id=1", "dataset.target=y", *hidden)
    code = command(monkeypatch, *options, "data.offline=true", f"outputs={tmp_path / 'outputs'}")
    out, err = capfd.readouterr()
    assert code == FAILED
    assert re.fullmatch(r"\[1/1\] .* FAILED: .*offline.*\n", err)
    assert "1 failed:" in out

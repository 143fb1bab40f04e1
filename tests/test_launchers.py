"""One command line, many launchers: the same jobs, the same bytes, the same words."""

from __future__ import annotations

import os
import pickle
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import uuid
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.utils import JobReturn, JobStatus
from hydra.types import RunMode
from omegaconf import OmegaConf

import hydra_plugins
from hydra_plugins.onesided.sweeper import SmallReturn
from pipeline.cells.errors import ConfigError
from pipeline.sweeps.executors import hydra_launcher
from pipeline.sweeps.part import Part
from pipeline.sweeps.plan import config_loader
from pipeline.sweeps.worker import work
from tests.cells.configs import places
from tests.commands import LONGEST, ROOT, results

TARGETS = {
    "local": "hydra_joblib_launcher.joblib_launcher.JoblibLauncher",
    "ray": "hydra_ray_launcher.ray_launcher.RayLauncher",
    "ray_cluster": "hydra_ray_launcher.ray_launcher.RayLauncher",
    "submitit_local": "hydra_submitit_launcher.submitit_launcher.LocalLauncher",
    "submitit_slurm": "hydra_submitit_launcher.submitit_launcher.SlurmLauncher",
}
# Two that compute, and one that fails in whatever process it runs.
WORK = "--config-dir mine -m method=ours,margin,lost cutoff=0.5,0.7 splits=2 tracking=none"
LAUNCHERS = {
    "one worker": "n_jobs=1",
    "two workers": "n_jobs=2",
    "ray": "hydra/launcher=ray",
    "submitit": "hydra/launcher=submitit_local",
    "slurm": "hydra/launcher=submitit_slurm hydra.launcher.partition=cpu hydra.launcher.mem_gb=4",
}
# There is no Slurm here: what submitit asks of it, done on this machine.
SLURM = {
    "sbatch": """\
        #!/bin/bash
        ended=$(dirname "$0")/ended
        script=$ended.sh
        cp "${!#}" "$script"  # submitit moves its file away when this command is back
        last=$(sed -n 's/^#SBATCH --array=0-\\([0-9]*\\).*/\\1/p' "$script")
        for task in $(seq 0 "$last"); do
            export SLURM_JOB_ID=$((100 + task)) SLURM_ARRAY_JOB_ID=7 SLURM_ARRAY_TASK_ID=$task
            export SLURM_JOB_NODELIST=node SLURM_JOB_NUM_NODES=1 SLURM_NODEID=0
            export SLURM_NTASKS=1 SLURM_PROCID=0 SLURM_LOCALID=0
            { bash "$script"; touch "${ended}_$task"; } > /dev/null 2>&1 &
        done
        echo "Submitted batch job 7"
        """,
    "srun": """\
        #!/bin/bash
        while [[ $1 == -* ]]; do
            if [[ $1 == --output || $1 == --error ]]; then shift; fi
            shift
        done
        exec "$@"
        """,
    "sacct": """\
        #!/bin/bash
        echo "JobID|State|NodeList"
        for task in $(seq 0 9); do
            state=RUNNING
            if [[ -e $(dirname "$0")/ended_$task ]]; then state=COMPLETED; fi
            echo "7_$task|$state|node"
        done
        """,
}
ALONE = """
import hydra_plugins, sys
hydra_plugins.__path__ = [sys.argv.pop()]
sys.argv[0] = "pipeline.run"
from pipeline.run import main
main()
"""


@pytest.mark.parametrize("launcher", TARGETS)
def test_a_launcher_composes_without_a_warning(launcher: str) -> None:
    with config_loader() as loader, warnings.catch_warnings():
        warnings.simplefilter("error")
        config = loader.load_configuration(
            "config", [f"hydra/launcher={launcher}", "n_jobs=3"], RunMode.MULTIRUN
        )
    assert config.hydra.launcher._target_ == f"hydra_plugins.{TARGETS[launcher]}"
    if launcher == "local":
        assert config.hydra.launcher.n_jobs == 3
    if launcher == "ray_cluster":
        assert config.hydra.launcher.ray.init == {"address": "auto", "object_store_memory": None}


@pytest.mark.parametrize(
    ("launcher", "missing", "extra"),
    [
        ("ray", "ray", "ray"),
        ("ray_cluster", "ray", "ray"),
        ("submitit_local", "submitit_local", "slurm"),
        ("submitit_slurm", "submitit_slurm", "slurm"),
    ],
)
def test_without_its_package_one_line_says_what_to_install(
    launcher: str, missing: str, extra: str, tmp_path: Path
) -> None:
    for name in ("hydra_joblib_launcher", "onesided"):
        found = next(path for path in map(Path, hydra_plugins.__path__) if (path / name).is_dir())
        (tmp_path / name).symlink_to(found / name)
    done = subprocess.run(
        [sys.executable, "-c", ALONE, "-m", f"hydra/launcher={launcher}", str(tmp_path)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=LONGEST,
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == (
        f"pipeline.run: hydra/launcher={missing} needs a package that is not installed: "
        f"pip install .[{extra}], or python3 scripts/bootstrap.py dev\n"
    )


class Launcher:
    """Notes what it is to launch."""

    launched: tuple[list[list[str]], int]

    def launch(self, job_overrides: list[list[str]], initial_job_idx: int) -> list[JobReturn]:
        self.launched = (job_overrides, initial_job_idx)
        return []


@pytest.mark.parametrize("name", ["plain", "it's = a, [odd] {name}", "ü #1 $HOME", "b\\'\\"])
def test_workers_are_told_the_whole_path(name: str, tmp_path: Path) -> None:
    launcher, file = Launcher(), tmp_path / name / "00000.part"
    execute = hydra_launcher(launcher, tmp_path / name)  # type: ignore[arg-type]
    for first in (0, 1):
        execute([file])
        (job,), number = launcher.launched
        assert number == first
        parsed = OverridesParser.create().parse_overrides(job)
        found = {override.get_key_element(): override.value() for override in parsed}
        assert found == {"+part_file": str(file), "hydra.sweep.dir": str(tmp_path / name)}


def part(folder: Path, cwd: Path) -> Part:
    (folder / "sweep").mkdir()
    return Part({}, places(folder), False, 1, folder / "sweep", cwd, os.getpid())


def test_a_worker_goes_where_the_command_was_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("/")
    part(tmp_path, tmp_path).save(tmp_path / "a.part")
    work(tmp_path / "a.part")
    assert Path.cwd() == tmp_path


@pytest.mark.parametrize(("file", "cwd"), [("b.part", "."), ("a.part", "elsewhere")])
def test_a_worker_without_the_shared_folder_says_so(file: str, cwd: str, tmp_path: Path) -> None:
    part(tmp_path, tmp_path / cwd).save(tmp_path / "a.part")
    with pytest.raises(ConfigError, match=r"all machines must share .* docs/cluster\.md"):
        work(tmp_path / file)


def test_a_worker_sends_its_parent_so_little_that_no_half_of_it_can_be_left_in_the_pipe() -> None:
    large = OmegaConf.create({f"key {number}": "value" * 10 for number in range(500)})
    sent = JobReturn(overrides=["+part_file=a"], cfg=large, hydra_cfg=large, task_name="run")
    sent.status = JobStatus.COMPLETED
    assert len(pickle.dumps(sent)) > 5 * select.PIPE_BUF
    SmallReturn().on_job_end(config=large, job_return=sent)
    assert len(pickle.dumps(sent)) < select.PIPE_BUF / 4
    assert (sent.overrides, sent.status) == (["+part_file=a"], JobStatus.COMPLETED)


Sweeps = dict[str, subprocess.CompletedProcess[str]]


def sweep(folder: Path, arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the work in a folder, with the relative default of outputs."""
    (folder / "mine" / "method").mkdir(parents=True)
    (folder / "mine" / "method" / "lost.yaml").write_text("name: lost\n")
    return subprocess.run(
        [sys.executable, "-m", "pipeline.run", *WORK.split(), *arguments.split()],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=2 * LONGEST,
    )


def said(done: subprocess.CompletedProcess[str]) -> str:
    """Return what was printed, but for the time in the sweep's name and the user's folder."""
    text = re.sub(r"sweeps/[\d-]+", "sweeps/NOW", done.stdout)
    return re.sub(r"\S+/mine/", "mine/", text)


@pytest.fixture(scope="module")
def guarded_ray() -> Iterator[None]:
    """Have Ray use a token of this test's own, and write none into the user's home."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_AUTH_MODE", "token")
        patch.setenv("RAY_AUTH_TOKEN", uuid.uuid4().hex)
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        yield


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Have commands of Slurm's names on the path."""
    folder = tmp_path_factory.mktemp("slurm")
    for name, text in SLURM.items():
        (folder / name).write_text(textwrap.dedent(text))
        (folder / name).chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
        yield


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {name: tmp_path_factory.mktemp("launcher") for name in LAUNCHERS}


@pytest.fixture(scope="module")
def sweeps(folders: dict[str, Path], guarded_ray: None, slurm: None) -> Sweeps:  # noqa: ARG001
    return {name: sweep(folders[name], arguments) for name, arguments in LAUNCHERS.items()}


@pytest.mark.slow
@pytest.mark.parametrize("launcher", list(LAUNCHERS)[1:])
def test_every_launcher_leaves_the_same_bytes(
    launcher: str, sweeps: Sweeps, folders: dict[str, Path]
) -> None:
    expected = results(folders["one worker"] / "outputs")
    assert len(expected) == 4 * 5, sweeps["one worker"].stderr
    assert results(folders[launcher] / "outputs") == expected, sweeps[launcher].stderr


@pytest.mark.slow
@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_every_launcher_ends_with_the_same_words(launcher: str, sweeps: Sweeps) -> None:
    done = sweeps[launcher]
    assert done.returncode == 1, done.stderr
    assert said(done) == said(sweeps["one worker"])
    assert done.stdout.count("FAILED: method 'lost' is unknown: there is no file") == 2
    assert "results:  outputs/runs/inferred/diabetes/linear" in done.stdout
    lines = re.findall(r"^\[\d/6\] ", done.stderr, flags=re.MULTILINE)
    assert len(lines) == 6, done.stderr


@pytest.fixture
def ray_head(tmp_path: Path, guarded_ray: None) -> Iterator[str]:  # noqa: ARG001
    """Start a cluster in another folder than the sweep's; yield its address."""
    port, client_port = free_port(), free_port()
    logs = tempfile.mkdtemp(prefix="ray")  # sockets lie in there: the path must be short
    command = [
        str(Path(sys.executable).with_name("ray")), "start", "--head", "--block", "--num-cpus=2",
        f"--port={port}", f"--ray-client-server-port={client_port}", f"--temp-dir={logs}",
        "--include-dashboard=false",
    ]  # fmt: skip
    (tmp_path / "head").mkdir()
    with (tmp_path / "head.log").open("w") as log:
        head = subprocess.Popen(
            command, cwd=tmp_path / "head", stdout=log, stderr=log, start_new_session=True
        )
    try:
        wait_for_head(head, tmp_path / "head.log")
        yield f"127.0.0.1:{port}"
    finally:
        os.killpg(head.pid, signal.SIGKILL)
        head.wait()
        shutil.rmtree(logs, ignore_errors=True)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for_head(head: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until Ray says that it blocks."""
    for _ in range(LONGEST):
        if "block forever" in log.read_text():
            return
        try:
            head.wait(1)
        except subprocess.TimeoutExpired:
            continue
        break
    raise AssertionError(log.read_text())


@pytest.mark.slow
def test_a_running_cluster_writes_where_the_command_was_given(
    ray_head: str, sweeps: Sweeps, folders: dict[str, Path], tmp_path: Path
) -> None:
    (tmp_path / "here").mkdir()
    address = f"hydra/launcher=ray_cluster hydra.launcher.ray.init.address={ray_head}"
    done = sweep(tmp_path / "here", address)
    assert said(done) == said(sweeps["one worker"]), done.stderr
    assert results(tmp_path / "here" / "outputs") == results(folders["one worker"] / "outputs")
    assert list((tmp_path / "head").iterdir()) == []

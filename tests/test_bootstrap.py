"""The decisions of scripts/bootstrap.py; no pin is installed and no network is used."""

import hashlib
import os
import shutil
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import bootstrap
import pytest
from bootstrap import BootstrapError, Checkout

Installed = list[str]
InstallPins = Callable[..., bool]


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """A checkout with pin lists and no environment."""
    (tmp_path / "requirements").mkdir()
    checkout = Checkout(tmp_path)
    for name in (*bootstrap.LEVELS, "uv"):
        checkout.pins(name).write_text(f"{name}==1\n")
    return checkout


def make_environment(checkout: Checkout) -> None:
    checkout.python.parent.mkdir(parents=True, exist_ok=True)
    checkout.python.touch()


def make_complete(checkout: Checkout, level: str) -> None:
    make_environment(checkout)
    bootstrap.write_stamp(checkout, level)


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Installed:
    """Replaces what touches the system; lists "venv" and the installed pin lists, in order."""
    log: Installed = []

    def create_venv(checkout: Checkout) -> None:
        log.append("venv")
        make_environment(checkout)

    def install_pins(_checkout: Checkout, level: str, _lock: int) -> bool:
        log.append(level)
        return True

    monkeypatch.setattr(bootstrap, "create_venv", create_venv)
    monkeypatch.setattr(bootstrap, "install_pins", install_pins)
    monkeypatch.setattr(bootstrap, "link_project", lambda _checkout: None)
    return log


def fail_with(outcome: bool | BaseException) -> InstallPins:
    def install_pins(checkout: Checkout, _level: str, _lock: int) -> bool:
        checkout.log.write_text("\n".join(f"line {number}" for number in range(100)))
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    return install_pins


@pytest.mark.parametrize("version", [(3, 11), (3, 12), (3, 13)])
def test_supported_python_passes(version: tuple[int, int]) -> None:
    bootstrap.check_python(version)


@pytest.mark.parametrize("version", [(2, 7), (3, 9), (3, 10), (3, 14), (4, 0)])
def test_other_python_is_refused(version: tuple[int, int]) -> None:
    with pytest.raises(BootstrapError, match=rf"Python {version[0]}\.{version[1]} does not fit"):
        bootstrap.check_python(version)


def test_missing_part_of_the_library_is_named() -> None:
    bootstrap.require_module("venv")
    with pytest.raises(BootstrapError, match="no ensurepipe module"):
        bootstrap.require_module("ensurepipe")


def test_nothing_is_installed_at_first(checkout: Checkout) -> None:
    assert bootstrap.installed_level(checkout) is None


@pytest.mark.parametrize("level", bootstrap.LEVELS)
def test_stamp_tells_the_level(checkout: Checkout, level: str) -> None:
    make_complete(checkout, level)
    assert bootstrap.installed_level(checkout) == level


def test_stamp_is_void_when_the_pins_change(checkout: Checkout) -> None:
    make_complete(checkout, "dev")
    checkout.pins("dev").write_text("dev==2\n")
    assert bootstrap.installed_level(checkout) is None


def test_stamp_is_void_for_another_python(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_complete(checkout, "dev")
    monkeypatch.setattr(bootstrap.platform, "python_version", lambda: "3.99.0")
    assert bootstrap.installed_level(checkout) is None


def test_stamp_is_void_in_a_moved_checkout(checkout: Checkout, tmp_path: Path) -> None:
    make_complete(checkout, "dev")
    moved = tmp_path / "moved"
    moved.mkdir()
    for name in (".venv", "requirements"):
        (tmp_path / name).rename(moved / name)
    assert bootstrap.installed_level(Checkout(moved)) is None


def test_stamp_is_void_without_interpreter(checkout: Checkout) -> None:
    make_complete(checkout, "dev")
    checkout.python.unlink()
    checkout.python.symlink_to("gone")
    assert bootstrap.installed_level(checkout) is None


def test_damaged_stamp_is_void(checkout: Checkout) -> None:
    make_complete(checkout, "dev")
    checkout.stamp.write_bytes(checkout.stamp.read_bytes()[:20])
    assert bootstrap.installed_level(checkout) is None


@pytest.mark.parametrize(
    ("held", "wanted", "serves"),
    [
        (None, "run", False),
        ("run", "run", True),
        ("run", "dev", False),
        ("dev", "run", True),
        ("dev", "bench", False),
        ("bench", "dev", True),
    ],
)
def test_a_level_serves_itself_and_the_ones_before(
    held: str | None, wanted: str, serves: bool
) -> None:
    assert bootstrap.covers(held, wanted) is serves


def test_each_pin_list_contains_the_ones_before() -> None:
    root = Checkout(Path(bootstrap.__file__).resolve().parent.parent)
    run, dev, bench = (
        {line for line in root.pins(level).read_text().splitlines() if "==" in line}
        for level in bootstrap.LEVELS
    )
    assert run
    assert run <= dev <= bench


def test_pin_lists_name_no_index() -> None:
    root = Checkout(Path(bootstrap.__file__).resolve().parent.parent)
    for name in (*bootstrap.LEVELS, "uv"):
        pins = root.pins(name).read_text()
        assert "://" not in pins
        assert "--index" not in pins


GETS_UV = """
case "$*" in
*uv.txt) cp {uv} {to};;
*"config list") echo "global.index-url='https://index.invalid/simple'";;
esac
"""


@dataclass(frozen=True)
class Stage:
    checkout: Checkout
    calls: Path

    def write(self, command: Path, script: str) -> None:
        command.parent.mkdir(parents=True, exist_ok=True)
        call = f'#!/bin/sh\necho "$(basename "$0") $* [$UV_INDEX_URL]" >>"{self.calls}"\n'
        command.write_text(call + script)
        command.chmod(0o755)

    def install(self) -> bool:
        with bootstrap.locked(self.checkout.lock) as lock:
            return bootstrap.install_pins(self.checkout, "dev", lock)

    def called(self) -> list[str]:
        """Who was called for what: the words that tell the calls apart."""
        words = ("ensurepip", "--version", "config", "uv.txt", "dev.txt")
        calls = [line.split() for line in self.calls.read_text().splitlines()]
        names = [[Path(word).name for word in call] for call in calls]
        return [" ".join([call[0], *(word for word in words if word in call)]) for call in names]


def which_in(folder: Path) -> Callable[[str], str | None]:
    """As shutil.which, but blind to what this machine has installed."""
    which = shutil.which
    return lambda name: which(name, path=str(folder))


@pytest.fixture
def stage(checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """An environment whose commands are shell scripts that list their calls."""
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.setattr(bootstrap.shutil, "which", which_in(tmp_path / "bin"))
    for name in [name for name in os.environ if name.startswith(("UV_", "PIP_"))]:
        monkeypatch.delenv(name)
    stage = Stage(checkout, tmp_path / "calls")
    stage.write(tmp_path / "new_uv", "")
    stage.write(checkout.python, GETS_UV.format(uv=tmp_path / "new_uv", to=checkout.uv))
    return stage


GOT_UV = ["python ensurepip", "python uv.txt", "uv --version", "python config"]
BY_PIP = ["python ensurepip", "python dev.txt"]


def test_uv_on_path_is_used_as_it_is(
    stage: Stage, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stage.write(tmp_path / "bin" / "uv", "")
    assert stage.install()
    (call,) = stage.calls.read_text().splitlines()
    assert call.startswith(f"uv pip install --compile-bytecode --python {stage.checkout.python}")
    assert call.endswith(f"--require-hashes -r {stage.checkout.pins('dev')} []")
    assert capsys.readouterr().err == ""


def test_uv_is_got_from_the_index_where_there_is_none(
    stage: Stage, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "uv").touch(mode=0o644)  # not executable
    assert stage.install()
    assert stage.called() == [*GOT_UV, "uv dev.txt"]
    calls = stage.calls.read_text().splitlines()
    assert calls[1].endswith(
        f"install --only-binary :all: --require-hashes -r {stage.checkout.pins('uv')} []"
    )
    assert calls[-1].endswith(
        f"--require-hashes -r {stage.checkout.pins('dev')} [https://index.invalid/simple]"
    )
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("new_uv", "called"),
    [
        pytest.param("exit 1", GOT_UV[:3], id="does not run"),
        pytest.param("kill -ILL $$", GOT_UV[:3], id="not for this processor"),
        pytest.param("[ $1 = --version ]", [*GOT_UV, "uv dev.txt"], id="cannot install"),
    ],
)
def test_pip_takes_over_where_uv_fails(
    new_uv: str,
    called: list[str],
    stage: Stage,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    stage.write(tmp_path / "new_uv", new_uv)
    assert stage.install()
    assert stage.called() == [*called, *BY_PIP]
    overwrites = "--ignore-installed" in stage.calls.read_text().splitlines()[-1]
    assert overwrites == ("uv dev.txt" in called)  # what uv has begun is not trusted
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith(", .venv/install.log says why; installing with pip: minutes")


def test_pip_takes_over_where_an_installed_uv_fails(stage: Stage, tmp_path: Path) -> None:
    stage.write(tmp_path / "bin" / "uv", "exit 2")
    assert stage.install()
    assert stage.called() == ["uv dev.txt", *BY_PIP]


def test_pip_takes_over_where_uv_is_not_a_program(stage: Stage, tmp_path: Path) -> None:
    (tmp_path / "new_uv").write_bytes(b"\x7fELF of another machine")
    assert stage.install()
    assert stage.called() == ["python ensurepip", "python uv.txt", *BY_PIP]
    assert "Exec format error" in stage.checkout.log.read_text()


def test_a_uv_with_another_hash_is_never_installed(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the real pip, and a wheel that is not the pinned one."""
    pytest.importorskip("ensurepip")
    bootstrap.create_venv(stage.checkout)
    name = "uv-1-py3-none-any.whl"
    with zipfile.ZipFile(tmp_path / name, "w") as wheel:
        wheel.writestr("uv-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: uv\nVersion: 1\n")
        wheel.writestr("uv-1.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        program = zipfile.ZipInfo("uv-1.data/scripts/uv")
        program.external_attr = 0o100755 << 16  # an executable file
        wheel.writestr(program, "#!/bin/sh\n")
        wheel.writestr("uv-1.dist-info/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    right = hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()
    with bootstrap.locked(stage.checkout.lock) as lock:
        for sha256, got in ((64 * "0", False), (right, True)):
            stage.checkout.pins("uv").write_text(f"uv==1 --hash=sha256:{sha256}\n")
            assert bootstrap.get_uv(stage.checkout, lock) is got
            assert stage.checkout.uv.exists() is got
    assert "DO NOT MATCH THE HASHES" in stage.checkout.log.read_text()


def test_second_call_does_nothing(checkout: Checkout, installed: Installed) -> None:
    for _ in range(2):
        bootstrap.prepare(checkout, "dev")
    assert installed == ["venv", "dev"]


def test_lower_level_is_served_and_higher_is_added(
    checkout: Checkout, installed: Installed
) -> None:
    for level in ("dev", "run", "bench", "run"):
        bootstrap.prepare(checkout, level)
    assert installed == ["venv", "dev", "bench"]


def test_unfinished_environment_is_made_anew(checkout: Checkout, installed: Installed) -> None:
    make_environment(checkout)
    bootstrap.prepare(checkout, "run")
    assert installed == ["venv", "run"]


def test_interrupted_upgrade_is_made_anew(
    checkout: Checkout, installed: Installed, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_complete(checkout, "run")
    with monkeypatch.context() as patch:
        patch.setattr(bootstrap, "install_pins", fail_with(KeyboardInterrupt()))
        with pytest.raises(KeyboardInterrupt):
            bootstrap.prepare(checkout, "dev")
    assert bootstrap.installed_level(checkout) is None
    bootstrap.prepare(checkout, "run")
    assert installed == ["venv", "run"]


def test_failed_upgrade_keeps_what_was_there(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_complete(checkout, "run")
    monkeypatch.setattr(bootstrap, "install_pins", fail_with(False))
    with pytest.raises(BootstrapError, match="package index"):
        bootstrap.prepare(checkout, "dev")
    assert bootstrap.installed_level(checkout) == "run"


def test_commands_stop_at_the_first_failure(tmp_path: Path) -> None:
    log, last = tmp_path / "log", ["touch", str(tmp_path / "made")]
    with bootstrap.locked(tmp_path / "lock") as lock:
        assert bootstrap.run_commands([["true"], ["true"]], lock, log)
        assert not bootstrap.run_commands([["false"], last], lock, log)
    assert not (tmp_path / "made").exists()


def test_what_an_installer_prints_goes_to_the_log(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log"
    with bootstrap.locked(tmp_path / "lock") as lock:
        bootstrap.run_commands([["echo", "one"], ["sh", "-c", "echo two >&2; exit 1"]], lock, log)
    assert log.read_text() == "one\ntwo\n"
    assert capfd.readouterr() == ("", "")


def test_an_install_takes_two_lines(
    checkout: Checkout, installed: Installed, capsys: pytest.CaptureFixture[str]
) -> None:
    bootstrap.prepare(checkout, "dev")
    bootstrap.prepare(checkout, "dev")
    assert installed
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("bootstrap: installing requirements/dev.txt into .venv with ")
    assert lines[1].startswith("bootstrap: ready after ")
    assert len(lines) == 2


def test_a_failed_install_shows_the_end_of_its_log(
    checkout: Checkout,
    installed: Installed,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(bootstrap, "install_pins", fail_with(False))
    with pytest.raises(BootstrapError, match=str(checkout.log)):
        bootstrap.prepare(checkout, "dev")
    assert installed == ["venv"]
    shown = capsys.readouterr().err.splitlines()[1:]
    assert shown == [f"line {number}" for number in range(80, 100)]


def test_killed_command_is_reported(tmp_path: Path) -> None:
    with (
        bootstrap.locked(tmp_path / "lock") as lock,
        pytest.raises(BootstrapError, match="was killed"),
    ):
        bootstrap.run_commands([["sh", "-c", "kill -9 $$"]], lock, tmp_path / "log")


def test_concurrent_calls_install_once(checkout: Checkout, installed: Installed) -> None:
    threads = [threading.Thread(target=bootstrap.prepare, args=(checkout, "dev")) for _ in "ab"]
    with bootstrap.locked(checkout.lock):
        for thread in threads:
            thread.start()
        threads[0].join(timeout=0.2)
        assert all(thread.is_alive() for thread in threads)
        assert installed == []
    for thread in threads:
        thread.join()
    assert installed == ["venv", "dev"]


def test_project_is_importable_from_the_environment(checkout: Checkout) -> None:
    packages = checkout.venv / "lib" / "python{}.{}".format(*sys.version_info) / "site-packages"
    packages.mkdir(parents=True)
    make_environment(checkout)
    bootstrap.link_project(checkout)
    assert (packages / "onesided.pth").read_text() == f"{checkout.root}\n"


@pytest.mark.parametrize("name", ["plain", "it's a folder"])
def test_the_command_works_from_any_directory(name: str, tmp_path: Path) -> None:
    """As it is written, with this Python in place of the environment's."""
    root, elsewhere = tmp_path / name, tmp_path / "elsewhere"
    packages = "lib/python{}.{}/site-packages".format(*sys.version_info)
    (root / ".venv" / packages).mkdir(parents=True)
    elsewhere.mkdir()
    (elsewhere / "argparse.py").write_text("raise AssertionError\n")
    checkout = Checkout(root)
    make_environment(checkout)
    here = Path(bootstrap.__file__).parents[1]
    checkout.python.write_text(f'#!/bin/sh\nPYTHONPATH="{here}" exec "{sys.executable}" "$@"\n')
    checkout.python.chmod(0o755)
    bootstrap.link_project(checkout)
    done = subprocess.run(
        [checkout.command, "data", "list"],
        cwd=elsewhere,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("dataset ")
    done = subprocess.run(
        [checkout.command, "data", "lst"],
        cwd=elsewhere,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "onesided data: error: there is no command 'lst'; did you mean 'list'?" in done.stderr


def test_an_environment_of_before_gets_the_command(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_complete(checkout, "dev")
    linked: list[Checkout] = []
    monkeypatch.setattr(bootstrap, "link_project", linked.append)
    bootstrap.prepare(checkout, "run")
    assert linked == [checkout]
    checkout.command.touch()
    bootstrap.prepare(checkout, "run")
    assert linked == [checkout]


def test_trouble_is_a_message_not_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(_version: tuple[int, int]) -> None:
        raise BootstrapError("no")

    monkeypatch.setattr(bootstrap, "check_python", refuse)
    assert bootstrap.main(["run"]) == 1
    assert capsys.readouterr().err == "bootstrap: error: no\n"

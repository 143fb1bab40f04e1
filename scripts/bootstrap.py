"""Prepare `.venv` with the pinned requirements of one level, from a bare Python.

    python3 scripts/bootstrap.py [run|dev|bench]

Uses the uv on PATH, else gets the pinned one from the package index into `.venv`; pip takes over
where uv fails. Both check the hash of every file. What they print goes to `.venv/install.log` and
is shown if they fail. Writes `.venv/bin/onesided`. A second call finds the stamp and does nothing.
`.venv` belongs to this script: one that is unfinished, or was made from other pins, by another
Python or for another place, is made anew. Linux and macOS.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import hashlib
import importlib.util
import json
import os
import platform
import shlex
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from uv_settings import parse_settings, uv_environment, uv_flags

LEVELS = ("run", "dev", "bench")  # each pin list contains the ones before it
FIRST_PYTHON, FIRST_PYTHON_TOO_NEW = (3, 11), (3, 14)

NO_VENV = (
    "this Python cannot make a virtual environment (no {module} module). Install the missing part "
    "(Debian, Ubuntu: apt install python3-venv)."
)
INSTALL_FAILED = (
    "the pinned requirements could not be installed; the reason stands above, all that was printed "
    "in {log}. Without network or package index nothing can be installed; for another index set "
    "PIP_INDEX_URL (an installed uv reads UV_INDEX_URL)."
)
WITH_PIP = "uv {what}, .venv/install.log says why; installing with pip: minutes"
# Signals by which somebody stops a command; one that dies of another has failed by itself.
STOPPING = (signal.SIGHUP, signal.SIGINT, signal.SIGKILL, signal.SIGTERM)
LAST_LINES = 20  # of the installer's, shown when it fails
COMMAND = """\
#!/bin/sh
exec {python} -P -c '
import sys
from pipeline.__main__ import main
sys.argv[0] = "onesided"
sys.exit(main())
' "$@"
"""


class BootstrapError(Exception):
    """A reason to stop that the user can do something about."""


@dataclass(frozen=True)
class Checkout:
    """Where things are, given the root of the repository."""

    root: Path

    @property
    def venv(self) -> Path:
        """The environment."""
        return self.root / ".venv"

    @property
    def python(self) -> Path:
        """The environment's interpreter."""
        return self.venv / "bin" / "python"

    @property
    def uv(self) -> Path:
        """The uv that is got where there is none."""
        return self.venv / "bin" / "uv"

    @property
    def stamp(self) -> Path:
        """Says what the environment holds; present only while it is complete."""
        return self.venv / "bootstrap.json"

    @property
    def log(self) -> Path:
        """What the installer has printed."""
        return self.venv / "install.log"

    @property
    def command(self) -> Path:
        """The project's command, to be called from any directory."""
        return self.venv / "bin" / "onesided"

    @property
    def lock(self) -> Path:
        """Held by whoever changes the environment; outside it, since it may be cleared."""
        return self.root / ".venv.lock"

    def pins(self, level: str) -> Path:
        """The pin list of a level, or of uv."""
        return self.root / "requirements" / f"{level}.txt"


def check_python(version: tuple[int, int]) -> None:
    """Refuse a Python for which the pins were not made."""
    if not FIRST_PYTHON <= version < FIRST_PYTHON_TOO_NEW:
        raise BootstrapError(
            f"Python {version[0]}.{version[1]} does not fit, 3.11, 3.12 or 3.13 is needed: "
            "make PYTHON=python3.12 ..."
        )


def require_module(name: str) -> None:
    """Refuse a Python from which the distribution has split off a part of the library."""
    if importlib.util.find_spec(name) is None:
        raise BootstrapError(NO_VENV.format(module=name))


def expected_stamp(checkout: Checkout, level: str) -> str:
    """The stamp of an environment that holds this level now."""
    facts = {
        "level": level,
        "pins": hashlib.sha256(checkout.pins(level).read_bytes()).hexdigest(),
        "python": platform.python_version(),
        "root": str(checkout.root),
    }
    return json.dumps(facts, indent=2) + "\n"


def installed_level(checkout: Checkout) -> str | None:
    """The level the environment holds; None if it is absent, unfinished or out of date."""
    if not (checkout.python.exists() and checkout.stamp.exists()):
        return None
    stamp = checkout.stamp.read_text(encoding="utf-8")
    return next((level for level in LEVELS if stamp == expected_stamp(checkout, level)), None)


def covers(installed: str | None, wanted: str) -> bool:
    """Whether an environment of one level serves another."""
    return installed is not None and LEVELS.index(installed) >= LEVELS.index(wanted)


def write_stamp(checkout: Checkout, level: str) -> None:
    """Declare the environment complete, all at once."""
    draft = checkout.stamp.with_suffix(".draft")
    draft.write_text(expected_stamp(checkout, level), encoding="utf-8")
    draft.replace(checkout.stamp)


@contextlib.contextmanager
def locked(path: Path) -> Iterator[int]:
    """Hold the lock file; the kernel frees it when its last holder ends, however it ends."""
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another bootstrap is at work, waiting for it")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield file.fileno()


def pip_install(checkout: Checkout, pins: Path, *flags: str) -> list[list[str]]:
    """What installs a pin list with the environment's own pip."""
    python = str(checkout.python)
    pip = [python, "-m", "pip", "--disable-pip-version-check", "--no-input", "install"]
    return [[python, "-m", "ensurepip"], [*pip, *flags, "--require-hashes", "-r", str(pins)]]


def uv_install(checkout: Checkout, uv: str, pins: Path, *flags: str) -> list[str]:
    """What installs a pin list with uv."""
    # As pip does: without bytecode every process compiles what it imports, for seconds.
    install = [uv, "pip", "install", "--compile-bytecode", "--python", str(checkout.python)]
    return [*install, *flags, "--require-hashes", "-r", str(pins)]


def run_commands(
    commands: Sequence[Sequence[str]],
    lock: int,
    log: Path,
    environment: Mapping[str, str] | None = None,
) -> bool:
    """Run commands up to the first that fails, their output to a log; whether all went well.

    They inherit the lock: should this process be killed, its child still keeps others out.
    """
    with log.open("ab", buffering=0) as file:
        for command in commands:
            try:
                done = subprocess.run(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=file,
                    stderr=subprocess.STDOUT,
                    pass_fds=(lock,),
                    env=environment,
                    check=False,
                )
            except OSError as error:  # absent, or not for this machine
                file.write(f"{error}\n".encode())
                return False
            if -done.returncode in STOPPING:
                raise BootstrapError(f"{command[0]} was killed; the next call starts afresh.")
            if done.returncode != 0:
                return False
    return True


def get_uv(checkout: Checkout, lock: int) -> bool:
    """Get uv from the package index, as pip is set to reach it; whether it runs."""
    wheel = pip_install(checkout, checkout.pins("uv"), "--only-binary", ":all:")
    return run_commands([*wheel, [str(checkout.uv), "--version"]], lock, checkout.log)


def pip_settings(checkout: Checkout) -> dict[str, str]:
    """What the user has set for pip."""
    command = [str(checkout.python), "-m", "pip", "config", "list"]
    listing = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return parse_settings(listing)


def install_pins(checkout: Checkout, level: str, lock: int) -> bool:
    """Install the pins of a level, with pip if uv cannot; whether it worked."""
    pins, log = checkout.pins(level), checkout.log
    uv = shutil.which("uv")
    if uv is not None:
        installed = run_commands([uv_install(checkout, uv, pins)], lock, log)
    elif get_uv(checkout, lock):
        settings = pip_settings(checkout)
        command = uv_install(checkout, str(checkout.uv), pins, *uv_flags(settings))
        installed = run_commands([command], lock, log, uv_environment(settings, os.environ))
    else:
        say(WITH_PIP.format(what="is not to be had"))
        return run_commands(pip_install(checkout, pins), lock, log)
    if installed:
        return True
    say(WITH_PIP.format(what="has failed"))
    # Over whatever uv may have left half-made, which pip would take for installed.
    return run_commands(pip_install(checkout, pins, "--ignore-installed"), lock, log)


def last_lines(log: Path) -> str:
    """The end of a log, which has the reason of a failure."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return "\n".join(lines[-LAST_LINES:])


def create_venv(checkout: Checkout) -> None:
    """Make an empty environment in place of whatever is there."""
    require_module("venv")
    import venv

    venv.create(checkout.venv, clear=True, symlinks=True, with_pip=False)


def link_project(checkout: Checkout) -> None:
    """Make `import pipeline` and `onesided` work from any directory, without a build."""
    base = str(checkout.venv)
    packages = sysconfig.get_path("purelib", "venv", vars={"base": base, "platbase": base})
    Path(packages, "onesided.pth").write_text(f"{checkout.root}\n", encoding="utf-8")
    script = COMMAND.format(python=shlex.quote(str(checkout.python)))
    checkout.command.write_text(script, encoding="utf-8")
    checkout.command.chmod(0o755)


def install(checkout: Checkout, level: str, lock: int) -> None:
    """Bring the environment to a level. The stamp goes first and comes back last."""
    if shutil.which("uv") is None:
        require_module("ensurepip")
    before = installed_level(checkout)
    checkout.stamp.unlink(missing_ok=True)
    if before is None:
        create_venv(checkout)
    checkout.log.unlink(missing_ok=True)
    if not install_pins(checkout, level, lock):
        print(last_lines(checkout.log), file=sys.stderr)
        if before is not None:  # both installers download everything before they change anything
            write_stamp(checkout, before)
        raise BootstrapError(INSTALL_FAILED.format(log=checkout.log))
    link_project(checkout)
    write_stamp(checkout, level)


def prepare(checkout: Checkout, level: str) -> None:
    """Make sure that the environment serves a level."""
    if covers(installed_level(checkout), level):
        if not checkout.command.exists():  # made before there was one
            link_project(checkout)
        return
    with locked(checkout.lock) as lock:
        if not covers(installed_level(checkout), level):  # another call may have done it
            say(f"installing requirements/{level}.txt into .venv with uv")
            start = time.monotonic()
            install(checkout, level, lock)
            say(f"ready after {time.monotonic() - start:.0f} s")


def say(message: str) -> None:
    """Report progress, apart from what the commands print."""
    print(f"bootstrap: {message}", file=sys.stderr, flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the level, prepare it, turn foreseen trouble into a message."""
    parser = argparse.ArgumentParser(description="Prepare .venv with pinned requirements.")
    parser.add_argument("level", nargs="?", choices=LEVELS, default="run")
    level = parser.parse_args(arguments).level
    try:
        check_python(sys.version_info[:2])
        prepare(Checkout(Path(__file__).resolve().parent.parent), level)
    except BootstrapError as error:
        say(f"error: {error}")
        return 1
    except KeyboardInterrupt:
        say("interrupted; the next call starts afresh")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())

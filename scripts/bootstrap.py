"""Prepare `.venv` with the pinned requirements of one level, from a bare Python.

    python3 scripts/bootstrap.py [run|dev|bench]

Uses uv where it is on PATH and pip otherwise; what they print goes to `.venv/install.log` and is
shown if they fail. Writes `.venv/bin/onesided`. A second call finds the stamp and does nothing.
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
import platform
import shlex
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

LEVELS = ("run", "dev", "bench")  # each pin list contains the ones before it
FIRST_PYTHON, FIRST_PYTHON_TOO_NEW = (3, 11), (3, 14)

NO_VENV = (
    "this Python cannot make a virtual environment (no {module} module). Install the missing part "
    "(Debian, Ubuntu: apt install python3-venv)."
)
INSTALL_FAILED = (
    "the pinned requirements could not be installed; the reason stands above, all that was printed "
    "in {log}. Without network or package index nothing can be installed; for another index set "
    "PIP_INDEX_URL (pip) or UV_INDEX_URL (uv)."
)
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
        """The pin list of a level."""
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


def install_commands(
    checkout: Checkout, level: str, search_path: str | None = None
) -> list[list[str]]:
    """What installs the pins: one uv command, or pip's two."""
    python, what = str(checkout.python), ["--require-hashes", "-r", str(checkout.pins(level))]
    uv = shutil.which("uv", path=search_path)
    if uv is not None:
        # As pip does: without bytecode every process compiles what it imports, for seconds.
        return [[uv, "pip", "install", "--compile-bytecode", "--python", python, *what]]
    require_module("ensurepip")
    pip = [python, "-m", "pip", "--disable-pip-version-check", "--no-input"]
    return [[python, "-m", "ensurepip"], [*pip, "install", *what]]


def run_commands(commands: Sequence[Sequence[str]], lock: int, log: Path) -> bool:
    """Run commands up to the first that fails, their output to a log; whether all went well.

    They inherit the lock: should this process be killed, its child still keeps others out.
    """
    with log.open("wb") as file:
        for command in commands:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                pass_fds=(lock,),
                check=False,
            )
            if done.returncode < 0:
                raise BootstrapError(f"{command[0]} was killed; the next call starts afresh.")
            if done.returncode > 0:
                return False
    return True


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
    commands = install_commands(checkout, level)
    before = installed_level(checkout)
    checkout.stamp.unlink(missing_ok=True)
    if before is None:
        create_venv(checkout)
    if not run_commands(commands, lock, checkout.log):
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
            how = "with uv" if shutil.which("uv") else "with pip: minutes (with uv, seconds)"
            say(f"installing requirements/{level}.txt into .venv {how}")
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

"""How the commands explain themselves, and how they end."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import FrameType
from typing import NamedTuple

from pipeline.core.near_misses import closest
from pipeline.terminal import complain

FAILED, REFUSED, INTERRUPTED = 1, 2, 130
BY_SIGNAL = 128  # and its number: the exit code of what a signal has ended
LINE = re.compile(
    r"(?P<nested> *)(?:- )?(?P<key>\w+):(?: (?P<value>[^#]*?))?(?: +# (?P<about>.*))?"
)
SHORT = re.compile(r"(onesided|python -m pipeline)( \w+)?")  # as pipeline.__main__ leaves argv[0]


def typed(module: str) -> str:
    """Return a command as it was typed: ``onesided data`` or ``python -m pipeline.data``."""
    return sys.argv[0] if SHORT.fullmatch(sys.argv[0]) else f"python -m {module}"


def name_of(module: str) -> str:
    """Return what the lines of a command begin with."""
    return typed(module).removeprefix("python -m ")


def parser_of(module: str, about: str, usage: str | None = None) -> argparse.ArgumentParser:
    """Return the parser of a command.

    Args:
        module: that is run with ``python -m``.
        about: its docstring: what it does, and examples that begin with ``python -m``.
        usage: what follows the command, where that is not what the parser knows.
    """
    name = typed(module)
    text = re.sub(rf"python -m {module}(?![.\w])", name, about).replace("``", "")
    purpose, _, examples = text.partition("\n\nExamples:\n")
    width = shutil.get_terminal_size().columns - 2  # as argparse does
    return argparse.ArgumentParser(
        prog=name,
        usage=usage and f"{name} {usage}",
        description="\n\n".join(textwrap.fill(part, width) for part in purpose.split("\n\n")),
        epilog=f"examples:\n{textwrap.indent(textwrap.dedent(examples), '  ')}".rstrip(),
        formatter_class=partial(argparse.RawDescriptionHelpFormatter, max_help_position=28),
    )


def add_overrides(parser: argparse.ArgumentParser) -> None:
    """Add what says which cells are meant, as Hydra has it."""
    about = "as for python -m pipeline.run -m, such as splits=20 or method=ours,margin"
    parser.add_argument("overrides", nargs="*", metavar="KEY=VALUE", help=about)
    parser.add_argument("--config-dir", type=Path, metavar="FOLDER", help="configs of your own")


def list_words(parser: argparse.ArgumentParser, title: str, words: Mapping[str, str]) -> None:
    """Have words explained on a help page; the parser serves for nothing else then."""
    group = parser.add_argument_group(title)
    for word, about in words.items():
        group.add_argument(word, help=about.replace("%", "%%"))


def choose(
    module: str, about: str, commands: Mapping[str, str], words: Sequence[str]
) -> tuple[str, argparse.ArgumentParser, list[str]]:
    """Return the command that the first word names, a parser for it, and the words after it.

    Args:
        module: that is run with ``python -m``.
        about: its docstring, as for :func:`parser_of`.
        commands: what each of its commands does.
        words: of the command line.
    """
    page = parser_of(module, about, "COMMAND …")
    list_words(page, "commands", commands)
    name, *rest = words or [""]
    if name in ("-h", "--help"):
        page.print_help()
        page.exit()
    if name not in commands:
        what = f"there is no command {name!r}" if name else "a command is needed"
        page.error(f"{what}{closest(name, commands)}")
    return name, argparse.ArgumentParser(f"{page.prog} {name}", description=commands[name]), rest


def settings(
    module: str, about: str, known: Mapping[str, tuple[str, str]], words: Sequence[str] | None
) -> dict[str, str]:
    """Return what the KEY=VALUE of a command line set; a ValueError names what is not known.

    Args:
        module: that is run with ``python -m``.
        about: its docstring, as for :func:`parser_of`.
        known: the default of each setting, and what it is.
        words: of the command line; None: those of this process.
    """
    words = sys.argv[1:] if words is None else words
    page = parser_of(module, about, "[KEY=VALUE …]")
    list_words(page, "settings", {f"{k}={v or '…'}": is_ for k, (v, is_) in known.items()})
    if {"-h", "--help"} & set(words):
        page.print_help()
        page.exit()
    given = {key: usual for key, (usual, _) in known.items()}
    for word in words:
        key, _, value = word.partition("=")
        if key not in known:
            raise ValueError(f"unknown option {key!r}{closest(key, known)}")
        if not value:
            raise ValueError(f"{key} needs a value: {key}=…")
        given[key] = value
    return given


class Stopped(KeyboardInterrupt):
    """Whoever runs the command wants it to end, by a signal other than Ctrl-C's.

    Args:
        number: of the signal.
    """

    def __init__(self, number: int) -> None:
        super().__init__()
        self.code = BY_SIGNAL + number


def code_of(stop: BaseException) -> int:
    """Return the exit code of a command that Ctrl-C or its like has ended."""
    return stop.code if isinstance(stop, Stopped) else INTERRUPTED


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """Have the signals that end a command end it as Ctrl-C does; not those ``nohup`` silenced."""

    def stop(number: int, _: FrameType | None) -> None:
        raise Stopped(number)

    before = {}
    if threading.current_thread() is threading.main_thread():  # Python allows no other to listen
        heard = [signal.SIGTERM, signal.SIGHUP]
        heard = [number for number in heard if signal.getsignal(number) != signal.SIG_IGN]
        before = {number: signal.signal(number, stop) for number in heard}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def guarded(
    action: Callable[[], int],
    errors: Mapping[type[Exception], int],
    explain: Callable[[Exception], str] = str,
    prefix: str = "error: ",
) -> int:
    """Run a command and return its exit code, whatever ends it.

    Args:
        action: the command; returns its exit code.
        errors: that the user can do something about, with the exit code of each.
        explain: makes one line of such an error.
        prefix: of that line.
    """
    try:
        with stopped_by_signals():
            return action()
    except BrokenPipeError:  # … | head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except KeyboardInterrupt as stop:
        print("stopped; run the same command again to go on", file=sys.stderr)
        return code_of(stop)
    except tuple(errors) as error:
        if os.environ.get("HYDRA_FULL_ERROR") == "1":
            raise
        complain(f"{prefix}{explain(error)}")
        return next(code for kind, code in errors.items() if isinstance(error, kind))


class Setting(NamedTuple):
    """A line of a config: a key with its value, and the comment beside it."""

    section: str
    key: str
    value: str
    about: str

    @property
    def written(self) -> str:
        """The setting as a command line has it."""
        return f"{f'{self.section}.' if self.section else ''}{self.key}={self.value}"


def read_settings(file: Path) -> Iterator[Setting]:
    """Yield the settings of a config that have a value on their line, by section."""
    section = ""
    for match in map(LINE.fullmatch, file.read_text(encoding="utf-8").splitlines()):
        if match is None:
            continue
        nested, key, value, about = match.group("nested", "key", "value", "about")
        if not nested:
            section = "" if value else key
        if value:
            yield Setting(section, key, value, about or "")

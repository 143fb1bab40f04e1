"""What a user did not mean, and what went wrong, each said in one line."""

from __future__ import annotations

import errno
import re

from pipeline.data.errors import DataError

COLOURS = re.compile(r"\033\[[0-9;]*m")
LONGEST = 400
NO_SPACE = "free some space, then run the same command again: what is finished is kept"
NO_RIGHT = "choose another folder with outputs=…, or change its rights"


class ConfigError(ValueError):
    """A config asks for something that cannot be; the message names the key and what to do."""


class SweepError(Exception):
    """A sweep that had begun could not go on; its cause says why."""


class MethodError(ConfigError):
    """The file of a method of one's own cannot be used; in a sweep only its cells fail."""


def explain(error: BaseException) -> str:
    """Return an error as one line."""
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"no space left on the disk{_where(error)}; {NO_SPACE}"
    if isinstance(error, OSError) and error.errno in (errno.EACCES, errno.EROFS, errno.EPERM):
        return f"cannot write{_where(error)}: {error.strerror}; {NO_RIGHT}"
    if isinstance(error, MemoryError):
        return "out of memory; run fewer at once with n_jobs=1"
    text = _shortened(COLOURS.sub("", str(error)))
    # These two speak to the user; ValueError is how core refuses what makes no sense.
    if isinstance(error, DataError | ValueError) and text:
        return text
    return f"{type(error).__name__}: {text}"


def _shortened(text: str) -> str:
    """Return a text as one line; a compiler's pages are in the traceback."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[:LONGEST].rstrip()} … (see the traceback)"


def _where(error: OSError) -> str:
    return f" at {error.filename}" if error.filename else ""

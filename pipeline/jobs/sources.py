"""Digests of source files: what code a result was computed by.

Comments, docstrings and layout do not count, so that better words do not cost a new computation.
"""

from __future__ import annotations

import hashlib
import io
import tokenize
from collections.abc import Iterable
from pathlib import Path

import pipeline.core
import pipeline.core.methods
import pipeline.data.splits

SKIPPED = {tokenize.COMMENT, tokenize.NL, tokenize.ENCODING}
STATEMENT_STARTS = {tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
LAYOUT = {tokenize.NEWLINE: "\\n", tokenize.INDENT: "{", tokenize.DEDENT: "}"}


def code_of(source: str) -> str:
    """Return Python source without comments, docstrings and layout."""
    parts: list[str] = []
    previous = tokenize.NEWLINE
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in SKIPPED:
            continue
        docstring = token.type == tokenize.STRING and previous in STATEMENT_STARTS
        if not docstring:
            parts.append(LAYOUT.get(token.type, token.string))
        previous = token.type
    return " ".join(parts)


def file_digest(file: Path) -> str:
    """Return a digest of the code in a file; of its bytes where it is not Python."""
    try:
        text = code_of(file.read_text(encoding="utf-8"))
    except (SyntaxError, tokenize.TokenError, UnicodeDecodeError):
        return hashlib.sha256(file.read_bytes()).hexdigest()[:16]
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def digest_of(files: Iterable[Path]) -> str:
    """Return one digest of several files, by name and code."""
    lines = sorted(f"{file.name} {file_digest(file)}" for file in files)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def _engine_files() -> list[Path]:
    """Return every file of core but the methods, and what turns a cell into its results."""
    core = Path(next(iter(pipeline.core.__path__)))
    methods = Path(next(iter(pipeline.core.methods.__path__)))
    files = [file for file in core.rglob("*.py") if methods not in file.parents]
    here = Path(__file__).parent
    return [
        *files,
        methods / "base.py",
        Path(str(pipeline.data.splits.__file__)),
        here / "problem.py",
        here / "compute.py",
    ]


def method_digests(folder: Path) -> dict[str, str]:
    """Return the digest of each method: of its file, or of all files of its package."""
    digests = {file.stem: file_digest(file) for file in folder.glob("*.py")}
    for package in folder.glob("*/__init__.py"):
        digests[package.parent.name] = digest_of(package.parent.rglob("*.py"))
    return digests


# Taken when the code is imported: a process that outlives a change of a file still runs the old
# code, and must not claim otherwise.
ENGINE = digest_of(_engine_files())
METHODS = method_digests(Path(next(iter(pipeline.core.methods.__path__))))

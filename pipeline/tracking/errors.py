"""One clear line when MLflow cannot be told."""

from __future__ import annotations

import re

from pipeline.terminal import short

LATER = (
    "results are saved; log them later with: python -m pipeline.sync "
    "(and outputs=… as in this command)"
)
LONGEST = 200
SILENT = "the server did not answer in time"
PLAIN_WORDS = {
    "Connection refused": "nothing listens there (connection refused)",
    "Name or service not known": "no such host",
    "Failed to resolve": "no such host",
    "timed out": SILENT,
    "database is locked": "the database is locked by another process",
    "unable to open database file": "the database cannot be opened",
    "readonly database": "the database is read-only",
    "disk is full": "the disk is full",
    "No space left on device": "the disk is full",
    "No such file or directory": "there is no such folder",
    "Model registry functionality is unavailable": "not an address MLflow knows",
    "maintenance mode": "a folder is no store; give sqlite:///…/mlflow.db or http://…",
}


class TrackingError(Exception):
    """MLflow cannot be told; says which, why, and how to make up for it."""

    def __init__(self, uri: str, why: str) -> None:
        super().__init__(f"MLflow at {without_password(uri)}: {why}; {LATER}")
        self.why = why

    @classmethod
    def of(cls, uri: str, error: Exception) -> TrackingError:
        """Return the error that says in one line what another one says in many."""
        text = str(error)
        known = [words for sign, words in PLAIN_WORDS.items() if sign in text]
        first = short(without_password(text.strip().partition("\n")[0]), LONGEST)
        return cls(uri, known[0] if known else first or type(error).__name__)


def without_password(uri: str) -> str:
    """Return an address that may be shown: what stands between ``//`` and ``@`` is left out."""
    return re.sub(r"//[^/@]*@", "//…@", uri)

"""Run folders: ``runs/<protocol>/<dataset>/<link>/<cutoff>/<method>/<hash>``.

The hash names everything the result depends on: the cell's config, the data, the code of the
method and that of the engine. What is in a folder is therefore never stale; a change of any of
these leads to another folder. ``status.json`` is written last and has the digests of the other
files: without it, or without one of them as it was written, there is no result.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pipeline.files import digest, read_json, write_json, write_text
from pipeline.results.outcome import SUMMARY, Outcome, read_outcome, write_outcome

State = Literal["done", "failed", "missing"]
STATUS, CONFIG = "status.json", "config.yaml"
ENVIRONMENT, TRACEBACK = "environment.json", "traceback.txt"
PARTS = ("protocol", "dataset", "link", "cutoff", "method")


@dataclass(frozen=True)
class RunFolder:
    """One run folder, there or not."""

    path: Path

    @property
    def labels(self) -> dict[str, str]:
        """Return protocol, dataset, link, cutoff and method, as the path has them."""
        return dict(zip(PARTS, self.path.parts[-6:-1], strict=True))

    @property
    def status(self) -> dict[str, Any]:
        """Return what ``status.json`` says."""
        found = read_json(self.path / STATUS)
        return found if isinstance(found, dict) else {"state": "missing"}

    @property
    def state(self) -> State:
        """Return whether the run is done, failed or missing."""
        status = self.status
        if status.get("state") == "done":
            return "done" if self._is_whole(status.get("files")) else "missing"
        return "failed" if status.get("state") == "failed" else "missing"

    def save(self, outcome: Outcome, config: str, environment: Any, seconds: float) -> None:
        """Write the results; the status comes last."""
        write_text(self.path / CONFIG, config)
        write_json(self.path / ENVIRONMENT, environment)
        write_outcome(outcome, self.path)
        (self.path / TRACEBACK).unlink(missing_ok=True)
        names = [CONFIG, SUMMARY, *(file.name for file in self.path.glob("*.parquet"))]
        files = {name: digest(self.path / name) for name in sorted(names)}
        status = {"state": "done", "seconds": round(seconds, 3), "files": files}
        write_json(self.path / STATUS, status)

    def fail(self, config: str, reason: str, traceback: str) -> None:
        """Record a failure; a run that was finished before, or elsewhere meanwhile, stays so."""
        write_text(self.path / TRACEBACK, traceback)
        if self.state == "done":
            return
        write_text(self.path / CONFIG, config)
        write_json(self.path / STATUS, {"state": "failed", "reason": reason})

    def outcome(self) -> Outcome:
        """Return the results of a finished run."""
        if self.state != "done":
            raise FileNotFoundError(f"{self.path}: this run is {self.state}")
        return read_outcome(self.path)

    def _is_whole(self, files: Any) -> bool:
        """Tell whether all files are there as they were written.

        The environment only has to be there: computed again under another commit, the results
        are the same and it is not.
        """
        if not isinstance(files, dict) or not (self.path / ENVIRONMENT).is_file():
            return False
        return all(found and digest(self.path / name) == found for name, found in files.items())


def runs_dir(outputs: Path) -> Path:
    """Return the folder of all runs."""
    return outputs / "runs"


def find_runs(outputs: Path) -> Iterator[RunFolder]:
    """Yield every run folder with a status, in the order of their paths."""
    depth = "/".join("*" * (len(PARTS) + 1))
    for status in sorted(runs_dir(outputs).glob(f"{depth}/{STATUS}")):
        yield RunFolder(status.parent)

"""Named points of failure: where a real command can be held, to be killed there."""

from __future__ import annotations

import json
import os
from pathlib import Path

HOOK = Path(__file__).parent  # on a command's path, its processes import sitecustomize.py


class Point:
    """A place in a command at which its processes wait.

    Args:
        folder: of its own, where the processes and this one find each other.
        file: name of the file before which they wait.
        after: how many of these files may take their place before.
    """

    def __init__(self, folder: Path, file: str, after: int = 0) -> None:
        folder.mkdir()
        self.folder = folder
        (folder / "point.json").write_text(json.dumps({"file": file, "after": after}))

    def environment(self, path: str = "") -> dict[str, str]:
        """Return what a command with that ``PYTHONPATH`` needs to wait here."""
        folders = os.pathsep.join([str(HOOK), *filter(None, [path])])
        return {"ONESIDED_HOLD": str(self.folder), "PYTHONPATH": folders}

    @property
    def held(self) -> list[int]:
        """The processes that wait."""
        return [int(file.name.partition("-")[2]) for file in self.folder.glob("held-*")]

    def let_go(self) -> None:
        """Let them go on."""
        (self.folder / "go").touch()

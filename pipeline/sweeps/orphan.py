"""Workers end with the command that started them, whatever ends it."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from functools import cache

SECONDS_BETWEEN_LOOKS = 1.0


@cache
def end_with_parent(parent: int) -> None:
    """End this process soon after its parent, if it is a worker that was started by one.

    joblib's would wait for work for ever, or for the rest of what a killed parent was about to
    say. Whatever it is doing: files are there whole or not at all, so that nothing can be spoilt.

    Args:
        parent: as it said itself; who was started by one that is gone meanwhile has another.
    """
    if multiprocessing.current_process().name != "MainProcess":
        threading.Thread(target=_wait_for_the_end, args=(parent,), daemon=True).start()


def _wait_for_the_end(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(SECONDS_BETWEEN_LOOKS)
    os._exit(1)

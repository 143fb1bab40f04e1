"""What every process of a sweep sets once, parent and workers: what is known is not done again.

Nothing is imported here but Hydra, which the command line has loaded anyway.
"""

from __future__ import annotations

import atexit
import copy
import gc
from functools import cache

from hydra._internal.config_repository import ConfigRepository
from hydra.core.config_store import ConfigStore
from hydra.plugins.config_source import ConfigResult

SELDOM = (100_000, 50, 100)  # Python's own: 700, 10, 10

_read = ConfigRepository.load_config
_known: dict[tuple[str, ...], ConfigResult | None] = {}


@cache
def set_up() -> None:
    """Spare Hydra and Python what they would do again and again, to no effect.

    - Hydra copies its store of schemas whenever it composes, and for ``--help`` twice for each
      config group: half the time of ``--help``. It changes none of the copies, so one serves all.
    - It reads twenty configs for each job, most of them the same ones: a third of the time.
    - Composing and logging make many objects and few cycles. To look for these among all that the
      libraries hold, as often as Python does by default, took a quarter of a sweep's time, and a
      last look at the end more than a second.
    """
    ConfigStore.__deepcopy__ = lambda store, memo: store  # type: ignore[attr-defined]  # noqa: ARG005
    ConfigRepository.load_config = _load_config  # type: ignore[assignment, method-assign]
    gc.set_threshold(*SELDOM)
    atexit.register(gc.freeze)


def _load_config(repository: ConfigRepository, config_path: str) -> ConfigResult | None:
    """Read a config once on each search path: a sweep keeps to what it began with."""
    key = (config_path, *(source.full_path() for source in repository.sources))
    if key not in _known:
        _known[key] = _read(repository, config_path)
    return copy.deepcopy(_known[key])

"""The sweeper behind ``python -m pipeline.run -m …``; Hydra imports it at every start.

Hydra's own sweeper launches one job for every combination. This one plans all cells, keeps those
that are there, and hands the rest to whichever launcher is configured, in parts that share data.
``hydra_plugins`` itself has no ``__init__.py``: it is a namespace that other plugins share.
"""

from dataclasses import dataclass, field
from typing import Any

from hydra.core.config_store import ConfigStore
from hydra.core.plugins import Plugins
from hydra.core.utils import JobReturn
from hydra.experimental.callback import Callback
from hydra.plugins.sweeper import Sweeper
from hydra.types import HydraContext, TaskFunction
from hydra_plugins.hydra_joblib_launcher.config import JobLibLauncherConf
from omegaconf import DictConfig


@dataclass
class CellSweeperConf:
    """The config group ``hydra/sweeper=onesided``; experiments set ``params``."""

    _target_: str = "hydra_plugins.onesided.sweeper.CellSweeper"
    params: dict[str, Any] = field(default_factory=dict)


ConfigStore.instance().store(
    group="hydra/sweeper", name="onesided", node=CellSweeperConf, provider="onesided"
)


@dataclass
class WatchedConf(JobLibLauncherConf):  # type: ignore[misc]  # has no types
    """joblib's launcher, with workers that end when this process does.

    They watch it from their start on: one that is killed while it hands out the first parts leaves
    workers with half a message, which they would wait for the rest of for ever.
    """

    initializer: Any = field(
        default_factory=lambda: {
            "_target_": "hydra.utils.get_method",
            "path": "pipeline.sweeps.orphan.end_with_parent",
        }
    )
    initargs: Any = field(default_factory=lambda: [{"_target_": "os.getpid"}])


ConfigStore.instance().store(
    group="hydra/launcher", name="joblib_watched", node=WatchedConf, provider="onesided"
)


class CellSweeper(Sweeper):
    """Plans the cells of a command line and runs them with the configured launcher.

    Args:
        params: what an experiment sweeps over; the command line counts more.
    """

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        self.params = params or {}

    def setup(
        self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig
    ) -> None:
        """Take what Hydra has composed, and make the launcher."""
        self.hydra_context, self.config = hydra_context, config
        self.launcher = Plugins.instance().instantiate_launcher(
            hydra_context=hydra_context, task_function=task_function, config=config
        )

    def sweep(self, arguments: list[str]) -> None:  # noqa: ARG002 — the config has them too
        """Run the sweep and leave with its exit code."""
        from pipeline.sweeps.command import run_sweep  # heavy: not for --help and --cfg

        assert self.config is not None
        assert self.launcher is not None
        raise SystemExit(run_sweep(self.config, self.launcher))


class SmallReturn(Callback):
    """Leaves out the configs, which nobody reads, of what a worker sends to its parent.

    A worker that is killed while it sends more than a pipe holds leaves half a message there, and
    joblib waits for the other half for ever.
    """

    def on_job_end(
        self,
        config: DictConfig,  # noqa: ARG002
        job_return: JobReturn,
        **kwargs: Any,  # noqa: ARG002
    ) -> None:
        """Hydra's word that a part has ended."""
        job_return.cfg = job_return.hydra_cfg = None

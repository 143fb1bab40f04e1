"""Hydra's word that a command starts: the parent's side of a sweep begins here."""

from __future__ import annotations

from typing import Any

from hydra.core.utils import JobReturn
from hydra.experimental.callback import Callback
from omegaconf import DictConfig


class StartError(BaseException):
    """A command that cannot start."""


class SweepCallback(Callback):
    """Opens the sweep before any worker starts; :mod:`pipeline.jobs.guard` closes it."""

    def on_run_start(self, config: DictConfig, **kwargs: Any) -> None:  # noqa: ARG002
        """Open the sweep of a single job."""
        _open(config, many=False)

    def on_multirun_start(self, config: DictConfig, **kwargs: Any) -> None:  # noqa: ARG002
        """Open the sweep of many jobs."""
        _open(config, many=True)

    def on_job_end(
        self,
        config: DictConfig,  # noqa: ARG002
        job_return: JobReturn,
        **kwargs: Any,  # noqa: ARG002
    ) -> None:
        """Leave out the configs, which nobody reads, of what a worker sends to its parent.

        A worker that is killed while it sends more than a pipe holds leaves half a message there,
        and joblib waits for the other half for ever.
        """
        job_return.cfg = job_return.hydra_cfg = None


def _open(config: DictConfig, many: bool) -> None:
    # Hydra turns an Exception of a callback into a warning and goes on; this must stop it.
    try:
        from pipeline.jobs.command import open_command  # heavy: not for --help and --cfg
        from pipeline.jobs.hydra_job import pin_sweep_dir

        open_command(config, many)
        if many:
            pin_sweep_dir(config)
    except Exception as error:
        raise StartError(error) from error

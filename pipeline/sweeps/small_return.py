"""What a worker of a launcher sends back: next to nothing."""

from __future__ import annotations

from typing import Any

from hydra.core.utils import JobReturn
from hydra.experimental.callback import Callback
from omegaconf import DictConfig


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

"""What a worker sends to its parent."""

from __future__ import annotations

import pickle
import select

from hydra.core.utils import JobReturn, JobStatus
from omegaconf import OmegaConf

from pipeline.jobs.callback import SweepCallback


def test_a_worker_sends_its_parent_so_little_that_no_half_of_it_can_be_left_in_the_pipe() -> None:
    large = OmegaConf.create({f"key {number}": "value" * 10 for number in range(500)})
    sent = JobReturn(overrides=["method=ours"], cfg=large, hydra_cfg=large, task_name="run")
    sent.status = JobStatus.COMPLETED
    assert len(pickle.dumps(sent)) > 5 * select.PIPE_BUF
    SweepCallback().on_job_end(config=large, job_return=sent)
    assert len(pickle.dumps(sent)) < select.PIPE_BUF / 4
    assert (sent.overrides, sent.status) == (["method=ours"], JobStatus.COMPLETED)

"""Property tests try the same examples every time; HYPOTHESIS_PROFILE=explore tries new ones."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from pipeline.core.learner import OneSidedLearner
from pipeline.core.methods.base import REGISTRY
from pipeline.sweeps.warm import warm_up

# No example has to be quick: how long one takes says how busy the machine is.
PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("repeat", PATIENT, derandomize=True)
settings.register_profile("explore", PATIENT, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeat"))


def pytest_sessionstart(session: pytest.Session) -> None:
    """Compile the kernels once, before several processes would; make an unreadable cache anew."""
    if not hasattr(session.config, "workerinput") and not session.config.option.collectonly:
        warm_up()
        for link, grow in itertools.product(("linear", "logistic"), ("label", "acceptance")):
            learner = OneSidedLearner(link, cutoff=-9.0, grow=grow).fit(np.eye(4), [0, 1, 0, 1])
            learner.learn(learner.decide(np.eye(4)).ids[:3], [0, 1, 0])
            learner.forget(learner.waiting_ids)
            learner.predict(np.eye(4))
            learner.width(np.eye(4))


@pytest.fixture(autouse=True)
def _registry() -> Iterator[None]:
    """Forget the methods a test makes known: others count on those of the project."""
    before = dict(REGISTRY)
    yield
    REGISTRY.clear()
    REGISTRY.update(before)
